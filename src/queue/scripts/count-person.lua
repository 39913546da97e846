-- Counts one person's message of the current minute, for all processes of a cluster.
-- KEYS  1 the person's messages   ARGV  1 delivery id   2 a minute, ms
-- Output: how many. Safe to repeat: a delivery counts once.
redis.call('SADD', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('SCARD', KEYS[1])
