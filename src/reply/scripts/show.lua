-- Writes what live replies look like now, fenced by the conversation's epoch.
--
-- KEYS  1 state   2… message records
-- ARGV  1 epoch   2… for each record: sealed content, '1' if finished, the ids of the newer messages whose answer it waits for
--       ('' = it is the answered one)
-- Returns {'shown' | 'stale', '1' if the first record was handed over to a later message}
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return {'stale', '0'} end
for index = 2, #KEYS do
  local at = (index - 2) * 3 + 2
  -- A record that has expired must not come back without its life; nobody can poll it any more.
  if redis.call('EXISTS', KEYS[index]) == 1 then
    redis.call('HSET', KEYS[index], 'content', ARGV[at], 'finished', ARGV[at + 1], 'keep', '0', 'epoch', ARGV[1])
    if ARGV[at + 2] ~= '' then redis.call('HSET', KEYS[index], 'newer', ARGV[at + 2]) end
  end
end
return {'shown', redis.call('HGET', KEYS[2], 'handedOver') or '0'}
