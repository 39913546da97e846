-- Counts one person's message in the current minute, for all processes of a cluster. Safe to repeat: a delivery counts once.
--
-- Keys       messages: deliveries of the person in this minute
-- Arguments  deliveryId   minuteMs: life of the count
-- Returns    the count
redis.call('SADD', keys.messages, args.deliveryId)
if redis.call('PTTL', keys.messages) < 0 then redis.call('PEXPIRE', keys.messages, args.minuteMs) end
return redis.call('SCARD', keys.messages)
