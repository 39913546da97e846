-- Answers a platform's poll. Past the live time an unfinished reply is handed over: this poll ends it, and the answer
-- goes the platform's other way; from then on the worker knows.
--
-- KEYS  1 message record
-- ARGV  1 the poll's sender (person id)   2 now, ms   3 age at which a live reply is handed over, ms
-- Returns false when the reply is unknown or not this person's, else
--         {sealed content, finished, handed over, can be answered later, kept at the handover, state}
local record = redis.call('HMGET', KEYS[1], 'owner', 'content', 'finished', 'handedOver', 'later', 'keep', 'atMs', 'state')
if not record[1] or record[1] ~= ARGV[1] then return false end
local handedOver = record[4] or '0'
if record[3] ~= '1' and handedOver == '0' and tonumber(ARGV[2]) - tonumber(record[7]) >= tonumber(ARGV[3]) then
  handedOver = '1'
  redis.call('HSET', KEYS[1], 'handedOver', '1')
end
return {record[2] or '', record[3] or '0', handedOver, record[5] or '0', record[6] or '0', record[8]}
