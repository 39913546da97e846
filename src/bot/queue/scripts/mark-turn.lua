-- Notes something about the running turn, fenced.
--
-- keys  state   pending
-- args  epoch   mark: 'answered' (storedAnswer: the sealed full text) | 'waiting' | 'running' |
--         'given-back' (touchedAgoMs: so long ago it counts as touched; conversationId)
-- Answers 1, or 0 when a newer epoch exists
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return 0 end
if args.mark == 'answered' then redis.call('HSET', keys.state, 'answer', args.storedAnswer)
elseif args.mark == 'running' then redis.call('HSET', keys.state, 'running', '1')
else
  -- What does not run is not harmed by a crash. To take a field away, and then to write more, is possible in a full Redis too.
  redis.call('HDEL', keys.state, 'running')
  if args.mark == 'given-back' then
    redis.call('HDEL', keys.state, 'aliveMs')
    -- From here on the worker that gave it back is refused, whatever of it is still on its way.
    redis.call('HINCRBY', keys.state, 'epoch', 1)
    redis.call('ZADD', keys.pending, redisNowMs() - args.touchedAgoMs, args.conversationId)
  end
end
return 1
