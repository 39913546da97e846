-- Asks whether a follow-up is still this worker's, before each post and before each pause, and notes how far it has come.
-- Safe to repeat.
--
-- keys  due: follow-ups, by when they are   followUp
-- args  deliveryId   claim   heldMs: how long nobody else takes it   state   parts: of the way that stand
-- Answers 1, or 0 when another worker took it or it is over
if redis.call('HGET', keys.followUp, 'claim') ~= args.claim then return 0 end
redis.call('HSET', keys.followUp, 'state', args.state, 'parts', args.parts)
redis.call('ZADD', keys.due, redisNowMs() + args.heldMs, args.deliveryId)
return 1
