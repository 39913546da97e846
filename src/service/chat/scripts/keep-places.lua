-- Keeps the places of requests that are still being answered. Safe to repeat.
-- keys  open: ids by when their places end
-- args  nowMs: by the service's clock   placeMs   ids
local untilMs = args.nowMs + args.placeMs
for _, id in ipairs(args.ids) do redis.call('ZADD', keys.open, 'XX', untilMs, id) end
redis.call('PEXPIRE', keys.open, args.placeMs)
