-- Remembers what became of a message, among its sender's outcomes. Safe to repeat.
redis.call('HSET', keys.outcomes, args.messageId, args.outcome)
redis.call('PEXPIRE', keys.outcomes, args.lifeMs)
