-- Notes by how many shards a process wakes, and says by how many others do. Safe to repeat.
--
-- Constants  REMEMBER_MS (life of what nobody says any more)
-- KEYS  1 numbers of shards, by when a process last said that it wakes by it
-- ARGV  1 this process's number   2 so long after it was last said a number is still in use, ms
--       3 if given: larger numbers that are not in use are forgotten
-- Returns {the largest number in use, the largest of which shards may be left}
local nowMs = redisNowMs()
redis.call('ZADD', KEYS[1], nowMs, ARGV[1])
redis.call('PEXPIRE', KEYS[1], REMEMBER_MS)
local used, known = 0, 0
local said = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for index = 1, #said, 2 do
  local number = tonumber(said[index])
  local isUsed = nowMs - tonumber(said[index + 1]) < tonumber(ARGV[2])
  if isUsed then used = math.max(used, number) end
  if ARGV[3] and not isUsed and number > tonumber(ARGV[3]) then
    redis.call('ZREM', KEYS[1], said[index])
  else
    known = math.max(known, number)
  end
end
return {used, known}
