-- Registers this worker and names those whose subscription is gone. Redis ends a subscription with its connection, and the system ends
-- the connection of a killed process at once, so a death shows here seconds before its leases run out.
--
-- keys  workers: sorted set of names, by when they were last registered
-- args  name   channelPrefix   forgetMs: an absent worker is forgotten after this time
-- Answers isHeard: whether our own subscription stands; without it nothing can be said of the others   absent: names
local nowMs = redisNowMs()
redis.call('ZADD', keys.workers, nowMs, args.name)
redis.call('PEXPIRE', keys.workers, 2 * args.forgetMs)
redis.call('ZREMRANGEBYSCORE', keys.workers, '-inf', nowMs - args.forgetMs)
local names = redis.call('ZRANGE', keys.workers, 0, -1)
local isHeard, absent = false, {}
for _, name in ipairs(names) do
  local count = redis.call('PUBSUB', 'NUMSUB', args.channelPrefix .. name)[2]
  if name == args.name then isHeard = count > 0
  elseif count == 0 then absent[#absent + 1] = name end
end
return answer { isHeard = isHeard, absent = absent }
