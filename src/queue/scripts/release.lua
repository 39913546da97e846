-- Brings held messages back to the inbox's head, in order, after their sender signed in. Their age counts from now.
-- A turn that is running keeps its place in front. What was said before the sign-in is forgotten (security.md 1.3 step 23).
-- Safe to repeat: with nothing held, nothing changes but the mark that something may be waiting.
--
-- Constants  CLEARED_MARK_MS (life of the mark of a cleared summary), RECORD_LIFE_MS (of a message record, should it have expired)
-- KEYS  1 state   2 inbox   3 pending   4 held   5 history   6 summary
-- ARGV  1 conversation id   2 message key prefix
-- Returns how many were released
local held = redis.call('LRANGE', KEYS[4], 0, -1)
if #held == 0 then return 0 end
local size = tonumber(redis.call('HGET', KEYS[1], 'size') or '0')
local running = {}
if size > 0 then
  running = redis.call('LRANGE', KEYS[2], 0, size - 1)
  redis.call('LTRIM', KEYS[2], size, -1)
end
local releasedMs = redisNowMs()
for index = #held, 1, -1 do
  local id, merge, seq, body = string.match(held[index], '^(%x+):([^:]+):%d+:(%d+):(.*)$')
  redis.call('LPUSH', KEYS[2], id .. ':' .. merge .. ':' .. releasedMs .. ':' .. seq .. ':' .. body)
  redis.call('HSET', ARGV[2] .. id, 'state', 'accepted')
  if redis.call('PTTL', ARGV[2] .. id) == -1 then redis.call('PEXPIRE', ARGV[2] .. id, RECORD_LIFE_MS) end
end
for index = #running, 1, -1 do redis.call('LPUSH', KEYS[2], running[index]) end
redis.call('DEL', KEYS[4], KEYS[5])
redis.call('SET', KEYS[6], '-' .. releasedMs, 'PX', CLEARED_MARK_MS)
redis.call('ZADD', KEYS[3], releasedMs, ARGV[1])
return #held
