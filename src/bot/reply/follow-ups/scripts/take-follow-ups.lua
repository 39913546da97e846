-- Claims a partition's due follow-ups for a time. Removes expired follow-ups from the list. If the command is sent twice,
-- the second run finds nothing due; the first run's claims become due again when they expire.
--
-- Keys       due: follow-ups by due time
-- Arguments  followUpPrefix: of a follow-up's key   claim: name of this claim   heldMs: how long it lasts   limit
-- Returns    of each deliveryId   sealed   ageMs: since the commit   state: '' = untouched   parts
local nowMs = redisNowMs()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.due, '-inf', nowMs, 'LIMIT', 0, args.limit)) do
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
