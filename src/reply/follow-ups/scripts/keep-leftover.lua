-- Keeps what could be brought no other way for the person's next private reply, once for each message. The oldest goes where
-- there are too many. Safe to repeat.
--
-- KEYS  1 leftovers
-- ARGV  1 delivery id   2 sealed text   3 most of them   4 life, ms
-- Returns how many are kept
local record = ARGV[1] .. ':' .. ARGV[2]
for _, kept in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if string.sub(kept, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then record = nil end
end
if record then redis.call('RPUSH', KEYS[1], record) end
redis.call('LTRIM', KEYS[1], -ARGV[3], -1)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return redis.call('LLEN', KEYS[1])
