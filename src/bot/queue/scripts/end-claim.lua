-- Ends a dead worker's claim on a conversation's turn, so that another worker can take it at once. The epoch stays: late writes of the dead
-- worker are refused once the turn is taken. Safe to repeat: a claim that another worker has taken is left alone.
--
-- Keys       state
-- Arguments  worker: name of the dead worker, the part of a claim's name before the dot
-- Returns    1 if the claim was the dead worker's
local state = redis.call('HMGET', keys.state, 'claim', 'aliveMs')
if workerOf(state[1]) ~= args.worker then return 0 end
-- guard: poison-turns/claim-ends-now
if state[2] then redis.call('HSET', keys.state, 'aliveMs', 0) end
return 1
