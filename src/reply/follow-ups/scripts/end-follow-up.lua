-- Ends a follow-up: what followed the answer was brought, and how is noted with the message. Safe to repeat.
--
-- KEYS  1 follow-ups, by when they are due   2 follow-up   3 message record
-- ARGV  1 delivery id   2 claim   3 how it was brought
-- Returns 1, or 0 when another worker took it or it is over
if redis.call('HGET', KEYS[2], 'claim') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HSET', KEYS[3], 'delivery', ARGV[3]) end
return 1
