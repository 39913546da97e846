-- Replaces re-encrypted values, each only if the stored one is still the one that was read.
-- Keys       link
-- Arguments  replacements: field, value as it was read, new value; repeated for each field
-- Returns    the fields that were replaced. Safe to repeat.
local replaced = {}
for index = 1, #args.replacements, 3 do
  local field, read, new = unpack(args.replacements, index, index + 2)
  -- guard: key-rotation/unchanged-record
  if redis.call('HGET', keys.link, field) == read then
    redis.call('HSET', keys.link, field, new)
    replaced[#replaced + 1] = field
  end
end
return replaced
