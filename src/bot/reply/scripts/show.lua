-- Writes the current snapshots of live replies, fenced by the conversation's epoch.
--
-- keys  state   records: of messages
-- args  epoch   snapshots: for each record: sealed content, '1' if finished, ids of the newer messages whose answer it awaits
--       ('' = it is the answered one)   offers: language of the answered one's buttons ('' = none)
--       told: delivery ids of the records, if the platform is notified of each change ('' otherwise)
-- Constants  REPLY_CHANNEL
-- Answers verdict: 'shown' | 'stale'   wasHandedOver: the first record, to a later message
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
for index, record in ipairs(keys.records) do
  local content, finished, newer = unpack(args.snapshots, index * 3 - 2, index * 3)
  -- An expired record must not be recreated without an expiry; it can no longer be polled.
  if redis.call('EXISTS', record) == 1 then
    redis.call('HSET', record, 'content', content, 'finished', finished, 'keep', '0', 'epoch', args.epoch)
    if newer ~= '' then redis.call('HSET', record, 'newer', newer) elseif args.offers ~= '' then redis.call('HSET', record, 'offers', args.offers) end
  end
end
for id in string.gmatch(args.told, '%x+') do redis.call('PUBLISH', REPLY_CHANNEL, id) end
return answer { verdict = 'shown', wasHandedOver = redis.call('HGET', keys.records[1], 'handedOver') }
