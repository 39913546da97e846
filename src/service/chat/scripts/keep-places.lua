-- Renews the slots of requests that are still being answered. Safe to repeat.
-- Keys       open: ids by the time at which their slots expire
-- Arguments  nowMs: by the service's clock   placeMs   ids
local untilMs = args.nowMs + args.placeMs
for _, id in ipairs(args.ids) do redis.call('ZADD', keys.open, 'XX', untilMs, id) end
redis.call('PEXPIRE', keys.open, args.placeMs)
