-- Writes the current snapshots of live replies, fenced by the conversation's epoch.
--
-- Keys       state   records: of messages
-- Arguments  epoch   snapshots: for each record: sealed content, '1' if finished, ids of the newer messages whose answer it awaits
--            ('' = it is the answered one)   offers: language of the answered one's buttons ('' = none)
--            did: steps of the worker so far
--            isNotified: the platform is notified of each change
-- Constants  REPLY_CHANNEL
-- Returns    verdict: 'shown' | 'stale'   wasHandedOver: the first record, to a later message
-- guard: fence/show
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
for index, record in ipairs(keys.records) do
  local content, finished, newer = unpack(args.snapshots, index * 3 - 2, index * 3)
  -- An expired record must not be re-created without an expiry; it can no longer be polled.
  if redis.call('EXISTS', record) == 1 then
    redis.call('HSET', record, 'content', content, 'finished', finished, 'keep', '0', 'epoch', args.epoch,
      unpack(index == 1 and {'did', args.did} or {}))
    if newer ~= '' then redis.call('HSET', record, 'newer', newer) elseif args.offers ~= '' then redis.call('HSET', record, 'offers', args.offers) end
  end
end
if args.isNotified == '1' then
  -- A record's key ends with its delivery id.
  for _, record in ipairs(keys.records) do redis.call('PUBLISH', REPLY_CHANNEL, string.match(record, '%x+$')) end
end
return answer { verdict = 'shown', wasHandedOver = redis.call('HGET', keys.records[1], 'handedOver') }
