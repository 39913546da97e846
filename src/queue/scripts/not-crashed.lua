-- Takes back a crash that was counted for a turn: the worker from which it was taken is alive and says so, once.
--
-- KEYS  1 state
-- ARGV  1 the claim from which the turn was taken
-- Returns 1 if a crash was taken back
local taken = redis.call('HGET', KEYS[1], 'takenFrom') or ''
local isSolo = taken == ARGV[1] .. ' solo'
if taken ~= ARGV[1] and not isSolo then return 0 end
redis.call('HDEL', KEYS[1], 'takenFrom')
redis.call('HINCRBY', KEYS[1], 'crashes', -1)
if isSolo then redis.call('HINCRBY', KEYS[1], 'soloCrashes', -1) end
return 1
