-- Takes the lease of the bot's one connection, or keeps it, for whoever asks: it is free when nobody holds it or its holder was
-- silent for longer than it lasts. Safe to repeat.
--
-- Constants  LEASE_MS, KEPT_MS (of the number, so that it only grows)
-- keys  lease: hash of holder, number (grows with each change of the holder), untilMs
-- args  holder: who asks   known: the greatest number that the asker knows, should Redis have lost it
-- Answers isMine   number: of the lease   waitMs: until it can be free, where another one holds it
--         gapMs: where it changed hands, how long nobody is known to have held it
local held = redis.call('HMGET', keys.lease, 'holder', 'number', 'untilMs')
local nowMs, untilMs = redisNowMs(), tonumber(held[3] or '0')
local number = math.max(tonumber(held[2] or '0'), tonumber(args.known))
local isSame = held[1] == args.holder
local leftMs = untilMs - nowMs
-- A clock that was set back makes nobody wait for longer than a lease lasts.
if not isSame and held[1] and leftMs > 0 and leftMs <= LEASE_MS then
  return answer { isMine = false, number = number, waitMs = leftMs }
end
local gapMs = 0
if not isSame then
  number = number + 1
  if untilMs > 0 then gapMs = math.max(0, nowMs - (untilMs - LEASE_MS)) end
end
redis.call('HSET', keys.lease, 'holder', args.holder, 'number', number, 'untilMs', nowMs + LEASE_MS)
redis.call('PEXPIRE', keys.lease, KEPT_MS)
return answer { isMine = true, number = number, gapMs = gapMs }
