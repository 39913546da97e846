-- Counts messages that are to be written to one person unasked, so that all processes together stay below what the platform
-- shows of them: so many at once, and then one after each gap. Of texts that go on over several messages one is written at a
-- time, so that two do not stand mixed.
-- A call that is sent twice counts twice, which only makes the next one wait. A clock that was set back makes nobody wait for
-- longer than an allowance that is used up.
--
-- Constants  GAP_MS, MOST_AT_ONCE, HELD_MS (a text that writes nothing for so long is not waited for)
-- keys  record: the person's: hash of dueMs (when all may be used again at once), holder and heldUntilMs (the text that goes on)
-- args  count   text: name of the one that they are of, '' = they are all of it   isLast: they end it
-- Answers 1 when they may leave now, else 0 and nothing is counted
local record = redis.call('HMGET', keys.record, 'dueMs', 'holder', 'heldUntilMs')
local nowMs = redisNowMs()
local fullMs = MOST_AT_ONCE * GAP_MS
local heldForMs = tonumber(record[3] or '0') - nowMs
local isHeld = heldForMs > 0 and heldForMs <= HELD_MS
if args.text ~= '' and isHeld and record[2] ~= args.text then return 0 end
local usedMs = tonumber(record[1] or '0')
if usedMs > nowMs + fullMs then
  usedMs = nowMs + fullMs
  redis.call('HSET', keys.record, 'dueMs', usedMs)
end
local dueMs = math.max(nowMs, usedMs) + args.count * GAP_MS
if dueMs > nowMs + fullMs then return 0 end
redis.call('HSET', keys.record, 'dueMs', dueMs)
if args.text ~= '' then redis.call('HSET', keys.record, 'holder', args.text, 'heldUntilMs', args.isLast == '1' and 0 or nowMs + HELD_MS) end
redis.call('PEXPIRE', keys.record, fullMs + HELD_MS)
return 1
