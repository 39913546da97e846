-- Limits the unsolicited messages to one person, so that all processes together stay below the platform's limit: a burst,
-- then one per gap. Only one text of several messages is sent at a time, so that two texts do not mix. A command that is
-- sent twice counts twice, which only delays the next message. After a clock was set back, no caller waits longer than for
-- a used-up allowance.
--
-- Constants  GAP_MS, MAX_AT_ONCE, HELD_MS (a text without a message for this long does not block others)
-- Keys       record: the person's: hash of dueMs (when the full burst is available again), holder and heldUntilMs (the current text)
-- Arguments  count   text: name of their text, '' = they are all of it   isLast: they end it
-- Returns    1 when they may be sent now, else 0 and nothing is counted
local record = redis.call('HMGET', keys.record, 'dueMs', 'holder', 'heldUntilMs')
local nowMs = redisNowMs()
local fullMs = MAX_AT_ONCE * GAP_MS
local heldForMs = tonumber(record[3] or '0') - nowMs
local isHeld = heldForMs > 0 and heldForMs <= HELD_MS
-- guard: looked-up-not-repeated/same-text
if args.text ~= '' and isHeld and record[2] ~= args.text then return 0 end
local usedMs = tonumber(record[1] or '0')
if usedMs > nowMs + fullMs then
  usedMs = nowMs + fullMs
  redis.call('HSET', keys.record, 'dueMs', usedMs)
end
local dueMs = math.max(nowMs, usedMs) + args.count * GAP_MS
-- guard: looked-up-not-repeated/due-later
if dueMs > nowMs + fullMs then return 0 end
redis.call('HSET', keys.record, 'dueMs', dueMs)
if args.text ~= '' then redis.call('HSET', keys.record, 'holder', args.text, 'heldUntilMs', args.isLast == '1' and 0 or nowMs + HELD_MS) end
redis.call('PEXPIRE', keys.record, fullMs + HELD_MS)
return 1
