-- Tells which of a partition's messages have their answer. One that waits for its sender's sign-in has none, and of one without a
-- record nothing is known. Changes nothing.
--
-- keys  records: of the messages
-- Answers their places among the records, from 1
local answered = {}
for place, key in ipairs(keys.records) do
  local state = redis.call('HGET', key, 'state')
  if state == 'final' or state == 'dead' then table.insert(answered, place) end
end
return answered
