-- Takes a value away: of any number of takers one gets it. What was taken is remembered for a moment, for its taker alone,
-- since a connection that breaks before the answer came sends the same taking again.
-- KEYS: 1 the value, 2 what was taken; ARGV: 1 name of this taking, 2 how long it is remembered (ms)
-- Output: the value, or nothing. Safe to repeat.
local mine = ARGV[1] .. ':'
local taken = redis.call('GET', KEYS[2])
if taken and string.sub(taken, 1, #mine) == mine then return string.sub(taken, #mine + 1) end
local value = redis.call('GET', KEYS[1])
if not value then return false end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], mine .. value, 'PX', ARGV[2])
return value
