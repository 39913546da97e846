-- Ends the claim that a dead worker left on a conversation's turn, so that another may take it at once. The epoch stays: whatever
-- the dead one had still sent is refused once the turn is taken. Safe to repeat: a claim that somebody else took is left alone.
--
-- args  worker: the dead one's name, which is a claim's name up to its dot
-- Answers 1 if the claim was the dead worker's
local state = redis.call('HMGET', keys.state, 'claim', 'aliveMs')
if string.match(state[1] or '', '^([^.]*)%.') ~= args.worker then return 0 end
if state[2] then redis.call('HSET', keys.state, 'aliveMs', 0) end
return 1
