-- Retracts, once, a crash that was counted for a turn: the worker from which the turn was taken reports that it is alive.
--
-- Keys       state
-- Arguments  claim: from which the turn was taken
-- Returns    1 if a crash was retracted
local taken = redis.call('HGET', keys.state, 'takenFrom') or ''
if taken ~= args.claim then return 0 end
redis.call('HDEL', keys.state, 'takenFrom')
redis.call('HINCRBY', keys.state, 'crashes', -1)
return 1
