-- Finds conversations of a partition that have something waiting and that nobody has touched for a while.
--
-- KEYS  1 pending
-- ARGV  1 how long ago they were touched, ms, at least   2 most of them
-- Returns {conversation ids}, the longest untouched first
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', redisNowMs() - ARGV[1], 'LIMIT', 0, ARGV[2])
