-- Takes a value away: of any number of takers one gets it. What was taken is remembered for a moment, for its taker alone,
-- since a connection that breaks before the answer came sends the same taking again.
-- keys  value   taken: what was taken
-- args  name: of this taking   rememberedMs
-- Answers the value, or nothing. Safe to repeat.
local mine = args.name .. ':'
local taken = redis.call('GET', keys.taken)
if taken and string.sub(taken, 1, #mine) == mine then return string.sub(taken, #mine + 1) end
local value = redis.call('GET', keys.value)
if not value then return false end
redis.call('DEL', keys.value)
redis.call('SET', keys.taken, mine .. value, 'PX', args.rememberedMs)
return value
