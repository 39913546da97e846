-- Records a process's shard count, and returns the counts of all processes. Safe to repeat.
--
-- Constants  REMEMBER_MS (life of the counts after the last report)
-- Keys       numbers: sorted set of shard counts, by last report   receivers: sorted set of records of receivers, by last report
-- Arguments  own: this process's count   inUseMs: how long after its last report a count is in use
--            forgetAbove: if given, larger counts that are not in use are removed   receiver: the caller's record, if it is a receiver
-- Returns    used: the largest count in use   known: the largest count whose shards may remain
local nowMs = redisNowMs()
redis.call('ZADD', keys.numbers, nowMs, args.own)
redis.call('PEXPIRE', keys.numbers, REMEMBER_MS)
if args.receiver ~= '' then
  redis.call('ZADD', keys.receivers, nowMs, args.receiver)
  redis.call('ZREMRANGEBYSCORE', keys.receivers, '-inf', nowMs - args.inUseMs)
  redis.call('PEXPIRE', keys.receivers, args.inUseMs)
end
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
