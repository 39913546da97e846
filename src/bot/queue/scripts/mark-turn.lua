-- Records a state of the running turn, fenced by the epoch.
--
-- Keys       state   pending
-- Arguments  epoch   mark: 'answered' (storedAnswer: the encrypted full text) | 'waiting' | 'running' |
--              'given-back' | 'isolated' (given back to wait; both: touchedAgoMs: age of the new touch; conversationId)
-- Returns    1, or 0 if a newer epoch exists
-- guard: fence/mark
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return 0 end
if args.mark == 'answered' then redis.call('HSET', keys.state, 'answer', args.storedAnswer)
elseif args.mark == 'running' then redis.call('HSET', keys.state, 'running', '1')
else
  -- A turn that does not run is not charged with a crash. A script that first deletes a field may write more even in a full
  -- Redis.
  -- guard: orderly-stop/not-running
  redis.call('HDEL', keys.state, 'running')
  if args.mark == 'isolated' then redis.call('HSET', keys.state, 'isolated', '1') end
  if args.mark == 'given-back' or args.mark == 'isolated' then
    redis.call('HDEL', keys.state, 'aliveMs')
    -- From here on the worker that gave the turn back is refused, including its writes in flight.
    redis.call('HINCRBY', keys.state, 'epoch', 1)
    redis.call('ZADD', keys.pending, redisNowMs() - args.touchedAgoMs, args.conversationId)
  end
end
return 1
