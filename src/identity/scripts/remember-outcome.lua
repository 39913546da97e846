-- Remembers what became of a message. KEYS: 1 the sender's outcomes; ARGV: 1 message, 2 outcome, 3 life (ms). Safe to repeat.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
