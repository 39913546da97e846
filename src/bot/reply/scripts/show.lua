-- Writes what live replies look like now, fenced by the conversation's epoch.
--
-- keys  state   records: of messages
-- args  epoch   snapshots: for each record: sealed content, '1' if finished, the ids of the newer messages whose answer it waits for
--       ('' = it is the answered one)   offers: the language of what may be pressed at the answered one ('' = nothing)   told: the delivery ids that belong to the records, where somebody is told of each change ('' else)
-- Constants  REPLY_CHANNEL
-- Answers verdict: 'shown' | 'stale'   wasHandedOver: the first record, to a later message
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
for index, record in ipairs(keys.records) do
  local content, finished, newer = unpack(args.snapshots, index * 3 - 2, index * 3)
  -- A record that has expired must not come back without its life; nobody can poll it any more.
  if redis.call('EXISTS', record) == 1 then
    redis.call('HSET', record, 'content', content, 'finished', finished, 'keep', '0', 'epoch', args.epoch)
    if newer ~= '' then redis.call('HSET', record, 'newer', newer) elseif args.offers ~= '' then redis.call('HSET', record, 'offers', args.offers) end
  end
end
for id in string.gmatch(args.told, '%x+') do redis.call('PUBLISH', REPLY_CHANNEL, id) end
return answer { verdict = 'shown', wasHandedOver = redis.call('HGET', keys.records[1], 'handedOver') }
