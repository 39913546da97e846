-- Checks, before each post and each pause, that a follow-up is still claimed by this worker, and records its progress.
-- Safe to repeat.
--
-- Keys       due: follow-ups by due time   followUp
-- Arguments  deliveryId   claim   heldMs: how long no other worker can claim it   state   parts: number of sent private messages
-- Returns    1, or 0 when another worker claimed it or it has ended
-- guard: looked-up-not-repeated/own-follow-up
if redis.call('HGET', keys.followUp, 'claim') ~= args.claim then return 0 end
redis.call('HSET', keys.followUp, 'state', args.state, 'parts', args.parts)
redis.call('ZADD', keys.due, redisNowMs() + args.heldMs, args.deliveryId)
return 1
