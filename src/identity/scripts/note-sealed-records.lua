-- Keeps what a whole sweep counted, in the place of what the last one did.
-- KEYS: 1 counts; ARGV: 1 life (ms), 2 … key id, count, key id, count, …
-- Safe to repeat.
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
