-- Writes what live replies look like now, fenced by the conversation's epoch.
--
-- KEYS  1 state   2… message records
-- ARGV  1 epoch   2… for each record: sealed content, '1' if finished, '1' if kept at the handover
-- Returns {'shown' | 'stale', '1' if the first record was handed over to a later message}
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return {'stale', '0'} end
for index = 2, #KEYS do
  local at = (index - 2) * 3 + 2
  -- A record that has expired must not come back without its life; nobody can poll it any more.
  if redis.call('EXISTS', KEYS[index]) == 1 then
    redis.call('HSET', KEYS[index], 'content', ARGV[at], 'finished', ARGV[at + 1], 'keep', ARGV[at + 2], 'epoch', ARGV[1])
  end
end
return {'shown', redis.call('HGET', KEYS[2], 'handedOver') or '0'}
