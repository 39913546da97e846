-- Registers this worker and finds workers whose subscription has ended. Redis ends a subscription with its connection, and the operating
-- system closes a killed process's connections at once, so that a death shows here seconds before its leases expire.
--
-- Keys       workers: sorted set of names, by last registration
-- Arguments  name   channelPrefix   forgetMs: an absent worker is forgotten after this time
-- Returns    isHeard: whether this worker's own subscription is active; if not, nothing is known of the others   absent: names
--            upForMs: how long Redis has been running, 0 if it does not reveal it
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
local told = redis.pcall('INFO', 'server')
local upForSec = type(told) == 'string' and string.match(told, 'uptime_in_seconds:(%d+)') or 0
return answer { isHeard = isHeard, absent = absent, upForMs = upForSec * 1000 }
