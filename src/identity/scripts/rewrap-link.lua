-- Puts values that were sealed anew in the place of those they were made from, each only where that one still stands.
-- KEYS: 1 link; ARGV: field, value as it was read, new value; as many times as there are fields
-- Output: the fields that were replaced. Safe to repeat.
local replaced = {}
for index = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[index]) == ARGV[index + 1] then
    redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 2])
    replaced[#replaced + 1] = ARGV[index]
  end
end
return replaced
