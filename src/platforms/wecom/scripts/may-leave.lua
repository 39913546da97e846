-- Counts messages that are to be written to one person unasked, so that all processes together stay below what the platform
-- shows of them: so many at once, and then one after each gap. Of texts that go on over several messages one is written at a
-- time, so that two do not stand mixed.
-- A call that is sent twice counts twice, which only makes the next one wait. A clock that was set back makes nobody wait for
-- longer than an allowance that is used up.
--
-- Constants  GAP_MS, MOST_AT_ONCE, HELD_MS (a text that writes nothing for so long is not waited for)
-- KEYS  1 the person's record: hash of dueMs (when all may be used again at once), holder and heldUntilMs (the text that goes on)
-- ARGV  1 how many   2 name of the text that they are of, '' = they are all of it   3 '1' if they end it
-- Returns 1 when they may leave now, else 0 and nothing is counted
local record = redis.call('HMGET', KEYS[1], 'dueMs', 'holder', 'heldUntilMs')
local nowMs = redisNowMs()
local fullMs = MOST_AT_ONCE * GAP_MS
local heldForMs = tonumber(record[3] or '0') - nowMs
local isHeld = heldForMs > 0 and heldForMs <= HELD_MS
if ARGV[2] ~= '' and isHeld and record[2] ~= ARGV[2] then return 0 end
local usedMs = tonumber(record[1] or '0')
if usedMs > nowMs + fullMs then
  usedMs = nowMs + fullMs
  redis.call('HSET', KEYS[1], 'dueMs', usedMs)
end
local dueMs = math.max(nowMs, usedMs) + ARGV[1] * GAP_MS
if dueMs > nowMs + fullMs then return 0 end
redis.call('HSET', KEYS[1], 'dueMs', dueMs)
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'holder', ARGV[2], 'heldUntilMs', ARGV[3] == '1' and 0 or nowMs + HELD_MS) end
redis.call('PEXPIRE', KEYS[1], fullMs + HELD_MS)
return 1
