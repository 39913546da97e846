-- Ends the claim that a dead worker left on a conversation's turn, so that another may take it at once. The epoch stays: whatever
-- the dead one had still sent is refused once the turn is taken. Safe to repeat: a claim that somebody else took is left alone.
--
-- KEYS  1 state
-- ARGV  1 the dead worker's name, which is a claim's name up to its dot
-- Returns 1 if the claim was the dead worker's
local state = redis.call('HMGET', KEYS[1], 'claim', 'aliveMs')
if string.match(state[1] or '', '^([^.]*)%.') ~= ARGV[1] then return 0 end
if state[2] then redis.call('HSET', KEYS[1], 'aliveMs', 0) end
return 1
