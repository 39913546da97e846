-- Asks whether a follow-up is still this worker's, before each post and before each pause, and notes how far it has come.
-- Safe to repeat.
--
-- KEYS  1 follow-ups, by when they are due   2 follow-up
-- ARGV  1 delivery id   2 claim   3 how long nobody else takes it, ms   4 state   5 parts of the way that stand
-- Returns 1, or 0 when another worker took it or it is over
if redis.call('HGET', KEYS[2], 'claim') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], 'state', ARGV[4], 'parts', ARGV[5])
redis.call('ZADD', KEYS[1], redisNowMs() + ARGV[3], ARGV[1])
return 1
