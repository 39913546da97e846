-- Takes or renews the lease of the bot's connection. The lease is free when it has no holder, or when the holder was silent
-- for longer than LEASE_MS. Safe to repeat, except that a repeated `open` no longer reports the gap.
--
-- Constants  LEASE_MS, KEPT_MS (of the number, so that it only grows), MAX_REST_MS (maximum `restMs`)
-- Keys       lease: hash of holder, number (grows with each change of the holder), untilMs, awaySinceMs (absent while connected),
--            level (how often another program replaced the connection in a row), returnAtMs (no connection before)
-- Arguments  holder: the caller   known: greatest number that the caller knows, in case Redis has lost it
--            state: `gain`, or of a holder `open` or `away`   level, restMs: known to a holder; ignored with `gain`
-- Returns    isMine   number: of the lease   waitMs: until it can be free, if another process holds it
--            gapMs: with `open`, how long no connection is known to have been open before
--            level, restMs: as stored; isAway: whether the connection is known not to be open
local held = redis.call('HMGET', keys.lease, 'holder', 'number', 'untilMs', 'awaySinceMs', 'level', 'returnAtMs')
local nowMs, untilMs = redisNowMs(), tonumber(held[3] or '0')
local number = math.max(tonumber(held[2] or '0'), tonumber(args.known))
local awaySinceMs, level = tonumber(held[4] or '0'), tonumber(held[5] or '0')
-- After a clock was set back, no process waits longer than the maximum rest or a lease.
local restMs = math.min(math.max(0, tonumber(held[6] or '0') - nowMs), MAX_REST_MS)
local isSame = held[1] == args.holder
local leftMs = untilMs - nowMs
if not isSame and held[1] and leftMs > 0 and leftMs <= LEASE_MS then
  return answer {
    isMine = false, number = number, waitMs = leftMs, gapMs = 0, level = level, restMs = restMs, isAway = awaySinceMs > 0
  }
end
if not isSame then
  number = number + 1
  if awaySinceMs == 0 and untilMs > 0 then awaySinceMs = math.min(nowMs, untilMs - LEASE_MS) end
end
if args.state ~= 'gain' then level, restMs = tonumber(args.level), tonumber(args.restMs) end
local gapMs = 0
if args.state == 'open' then
  if awaySinceMs > 0 then gapMs = math.max(0, nowMs - awaySinceMs) end
  redis.call('HDEL', keys.lease, 'awaySinceMs')
else
  if awaySinceMs == 0 then awaySinceMs = nowMs end
  redis.call('HSET', keys.lease, 'awaySinceMs', awaySinceMs)
end
redis.call('HSET', keys.lease, 'holder', args.holder, 'number', number, 'untilMs', nowMs + LEASE_MS,
  'level', level, 'returnAtMs', nowMs + restMs)
redis.call('PEXPIRE', keys.lease, KEPT_MS)
return answer {
  isMine = true, number = number, waitMs = 0, gapMs = gapMs, level = level, restMs = restMs, isAway = args.state ~= 'open'
}
