-- Removes a person's link with its tokens, reverse index and re-check; once for each message that asks for it. Once more
-- after a failover it removes only what was linked before, and what the message is told is what it was told then.
-- Constants  CHANGED_LIFE_MS (how long it is known when a person's link changed)
-- KEYS: 1 link, 2 index of re-checks, 3 what became of the message, 4 when the person's link changed
-- ARGV: 1 person, 2 prefix of holder keys, 3 life of 3 (ms), 4 when it was undone before a failover (ms; '' for now),
--       5 what became of the message then
-- Output: {1 when there was a link, else 0; when it was undone, ms, or 0 where that is not known any more}. Safe to repeat:
--         the same message is told the same, and a link that was made since stays.
local isAgain = ARGV[4] ~= ''
local changedMs = tonumber(redis.call('GET', KEYS[4]) or '0')
local before = redis.call('GET', KEYS[3])
local account = redis.call('HGET', KEYS[1], 'accountKey')
if before and not isAgain then return { tonumber(before), account and 0 or changedMs } end
redis.call('SET', KEYS[3], isAgain and ARGV[5] or account and '1' or '0', 'PX', ARGV[3])
-- A later change counts, and so does this one where it is known.
if isAgain and changedMs >= tonumber(ARGV[4]) then return { 0, changedMs } end
local undoneMs = isAgain and tonumber(ARGV[4]) or math.max(redisNowMs(), changedMs + 1)
redis.call('SET', KEYS[4], undoneMs, 'PX', CHANGED_LIFE_MS)
redis.call('ZREM', KEYS[2], ARGV[1])
if not account then return { 0, undoneMs } end
if redis.call('GET', ARGV[2] .. account) == ARGV[1] then redis.call('DEL', ARGV[2] .. account) end
redis.call('DEL', KEYS[1])
return { 1, undoneMs }
