-- Registers this worker, and returns when the others last did so and whether they are still subscribed. Redis ends a subscription with its
-- connection, and the operating system closes a killed process's connections at once, so that a death shows here seconds before its leases
-- expire. A frozen process keeps its subscription, but registers no more.
--
-- Keys       workers: sorted set of names, by last registration   record: what this worker does
-- Arguments  name   channelPrefix: '' = subscriptions are not counted   forgetMs: an absent worker is forgotten after this time
--            about: the record
-- Returns    isHeard: whether this worker's own subscription is active; if not, nothing is known of the subscriptions of others
--            upForMs: how long Redis has been running, 0 if it does not reveal it
--            names: of the others   registeredMs, subscribers: of each
local nowMs = redisNowMs()
redis.call('ZADD', keys.workers, nowMs, args.name)
redis.call('PEXPIRE', keys.workers, 2 * args.forgetMs)
redis.call('ZREMRANGEBYSCORE', keys.workers, '-inf', nowMs - args.forgetMs)
redis.call('SET', keys.record, args.about, 'PX', args.forgetMs)
local found = redis.call('ZRANGE', keys.workers, 0, -1, 'WITHSCORES')
local isHeard, names, registeredMs, subscribers = false, {}, {}, {}
for index = 1, #found, 2 do
  local name, count = found[index], 0
  if args.channelPrefix ~= '' then count = redis.call('PUBSUB', 'NUMSUB', args.channelPrefix .. name)[2] end
  if name == args.name then isHeard = count > 0
  else
    names[#names + 1] = name
    registeredMs[#registeredMs + 1] = found[index + 1]
    subscribers[#subscribers + 1] = count
  end
end
local told = redis.pcall('INFO', 'server')
local upForSec = type(told) == 'string' and string.match(told, 'uptime_in_seconds:(%d+)') or 0
return answer { isHeard = isHeard, upForMs = upForSec * 1000, names = names, registeredMs = registeredMs, subscribers = subscribers }
