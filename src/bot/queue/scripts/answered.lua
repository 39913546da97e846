-- Finds which of a partition's messages are answered. A message that waits for sign-in is not, and one without a record is not listed. Changes nothing.
--
-- Keys       records: of the messages
-- Returns    the positions of the answered messages among the records, from 1
local answered = {}
for place, key in ipairs(keys.records) do
  local state = redis.call('HGET', key, 'state')
  if state == 'final' or state == 'dead' then table.insert(answered, place) end
end
return answered
