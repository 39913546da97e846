-- Counts one person's message of the current minute, for all processes of a cluster.
-- keys  messages: the person's
-- Answers how many. Safe to repeat: a delivery counts once.
redis.call('SADD', keys.messages, args.deliveryId)
if redis.call('PTTL', keys.messages) < 0 then redis.call('PEXPIRE', keys.messages, args.minuteMs) end
return redis.call('SCARD', keys.messages)
