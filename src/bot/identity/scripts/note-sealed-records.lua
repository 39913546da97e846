-- Replaces the counts of the previous sweep by those of a complete one. Safe to repeat.
--
-- Keys       records
-- Arguments  lifeMs   counts: key id, count, key id, count, …
redis.call('DEL', keys.records)
redis.call('HSET', keys.records, unpack(args.counts))
redis.call('PEXPIRE', keys.records, args.lifeMs)
