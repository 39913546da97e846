-- Starts one request of an API key, unless the key has started too many lately or has too many open, across all processes.
-- Safe to repeat with the same id. A slot that is neither renewed nor released is free again after `placeMs`: its process has died.
-- Keys       begun: ids by start time   open: ids by the time at which their slots expire
-- Arguments  id: of the request   maxBegun: within `windowMs`   maxOpen   windowMs   placeMs   nowMs: by the service's clock
-- Returns    mayBegin   waitMs: until another may start, if the key has started too many; 0 if too many are open
local nowMs = tonumber(args.nowMs)
redis.call('ZREMRANGEBYSCORE', keys.begun, '-inf', nowMs - args.windowMs)
redis.call('ZREMRANGEBYSCORE', keys.open, '-inf', nowMs)
if redis.call('ZSCORE', keys.open, args.id) then return answer { mayBegin = true } end
if redis.call('ZCARD', keys.open) >= tonumber(args.maxOpen) then return answer { mayBegin = false } end
if redis.call('ZCARD', keys.begun) >= tonumber(args.maxBegun) then
  local oldest = redis.call('ZRANGE', keys.begun, 0, 0, 'WITHSCORES')
  return answer { mayBegin = false, waitMs = math.max(1, (tonumber(oldest[2]) or nowMs) + args.windowMs - nowMs) }
end
redis.call('ZADD', keys.begun, nowMs, args.id)
redis.call('PEXPIRE', keys.begun, args.windowMs)
redis.call('ZADD', keys.open, nowMs + args.placeMs, args.id)
redis.call('PEXPIRE', keys.open, args.placeMs)
return answer { mayBegin = true }
