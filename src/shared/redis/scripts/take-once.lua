-- Removes and returns a value: exactly one of any number of callers gets it. The value is remembered briefly for that caller,
-- because a connection that breaks before the reply sends the same call again.
-- Keys       value   taken: the value that was taken
-- Arguments  name: of this call   rememberedMs
-- Returns    the value, or nothing. Safe to repeat.
local mine = args.name .. ':'
local taken = redis.call('GET', keys.taken)
if taken and string.sub(taken, 1, #mine) == mine then return string.sub(taken, #mine + 1) end
local value = redis.call('GET', keys.value)
if not value then return false end
redis.call('DEL', keys.value)
redis.call('SET', keys.taken, mine .. value, 'PX', args.rememberedMs)
return value
