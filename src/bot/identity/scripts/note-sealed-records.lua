-- Keeps what a whole sweep counted, in the place of what the last one did.
-- args  lifeMs   counts: key id, count, key id, count, …
-- Safe to repeat.
redis.call('DEL', keys.records)
redis.call('HSET', keys.records, unpack(args.counts))
redis.call('PEXPIRE', keys.records, args.lifeMs)
