-- Takes back a crash that was counted for a turn: the worker from which it was taken is alive and says so, once.
--
-- args  claim: from which the turn was taken
-- Answers 1 if a crash was taken back
local taken = redis.call('HGET', keys.state, 'takenFrom') or ''
if taken ~= args.claim then return 0 end
redis.call('HDEL', keys.state, 'takenFrom')
redis.call('HINCRBY', keys.state, 'crashes', -1)
return 1
