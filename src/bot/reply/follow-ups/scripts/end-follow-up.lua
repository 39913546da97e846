-- Ends a delivered follow-up and records the delivery method with the message. Safe to repeat.
--
-- Keys       due: follow-ups by due time   followUp   record: of the message
-- Arguments  deliveryId   claim   delivery: how it was delivered
-- Returns    1, or 0 when another worker claimed it or it has ended
if redis.call('HGET', keys.followUp, 'claim') ~= args.claim then return 0 end
redis.call('DEL', keys.followUp)
redis.call('ZREM', keys.due, args.deliveryId)
if redis.call('EXISTS', keys.record) == 1 then redis.call('HSET', keys.record, 'delivery', args.delivery) end
return 1
