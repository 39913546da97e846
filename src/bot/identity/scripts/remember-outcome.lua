-- Stores the outcome of a message with the other outcomes of its sender. Safe to repeat.
--
-- Keys       outcomes
-- Arguments  messageId   outcome   lifeMs
redis.call('HSET', keys.outcomes, args.messageId, args.outcome)
redis.call('PEXPIRE', keys.outcomes, args.lifeMs)
