-- Puts values that were sealed anew in the place of those they were made from, each only where that one still stands.
-- args  replacements: field, value as it was read, new value; as many times as there are fields
-- Answers the fields that were replaced. Safe to repeat.
local replaced = {}
for index = 1, #args.replacements, 3 do
  local field, read, new = unpack(args.replacements, index, index + 2)
  if redis.call('HGET', keys.link, field) == read then
    redis.call('HSET', keys.link, field, new)
    replaced[#replaced + 1] = field
  end
end
return replaced
