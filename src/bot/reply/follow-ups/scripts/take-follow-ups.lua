-- Takes what is due to follow answers of a partition: for so long nobody else does. One that has expired leaves the list.
-- Sent twice, the second finds nothing due; what the first took is due again when its time is over.
--
-- keys  due: follow-ups, by when they are
-- args  followUpPrefix: of a follow-up's key   claim: a name for this taking   heldMs: how long it holds   most
-- Answers of each deliveryId   sealed   ageMs: since the commit   state: '' = untouched   parts
local nowMs = redisNowMs()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.due, '-inf', nowMs, 'LIMIT', 0, args.most)) do
  local kept = redis.call('HMGET', args.followUpPrefix .. id, 'sealed', 'atMs', 'state', 'parts')
  if kept[1] then
    redis.call('HSET', args.followUpPrefix .. id, 'claim', args.claim)
    redis.call('ZADD', keys.due, nowMs + args.heldMs, id)
    taken[#taken + 1] = answer {
      deliveryId = id, sealed = kept[1], ageMs = nowMs - tonumber(kept[2]), state = kept[3], parts = kept[4],
    }
  else
    redis.call('ZREM', keys.due, id)
  end
end
return taken
