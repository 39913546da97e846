-- Notes by how many shards a process wakes, and says by how many others do. Safe to repeat.
--
-- Constants  REMEMBER_MS (life of what nobody says any more)
-- keys  numbers: of shards, by when a process last said that it wakes by it
-- args  own: this process's number   inUseMs: so long after it was last said a number is still in use
--       forgetAbove: if given, larger numbers that are not in use are forgotten
-- Answers used: the largest number in use   known: the largest of which shards may be left
local nowMs = redisNowMs()
redis.call('ZADD', keys.numbers, nowMs, args.own)
redis.call('PEXPIRE', keys.numbers, REMEMBER_MS)
local used, known = 0, 0
local said = redis.call('ZRANGE', keys.numbers, 0, -1, 'WITHSCORES')
for index = 1, #said, 2 do
  local number = tonumber(said[index])
  local isUsed = nowMs - tonumber(said[index + 1]) < tonumber(args.inUseMs)
  if isUsed then used = math.max(used, number) end
  if args.forgetAbove ~= '' and not isUsed and number > tonumber(args.forgetAbove) then
    redis.call('ZREM', keys.numbers, said[index])
  else
    known = math.max(known, number)
  end
end
return answer { used = used, known = known }
