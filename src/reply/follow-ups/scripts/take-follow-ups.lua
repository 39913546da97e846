-- Takes what is due to follow answers of a partition: for so long nobody else does. One that has expired leaves the list.
-- Sent twice, the second finds nothing due; what the first took is due again when its time is over.
--
-- KEYS  1 follow-ups, by when they are due
-- ARGV  1 prefix of a follow-up's key   2 claim: a name for this taking   3 how long it holds, ms   4 most of them
-- Returns {{delivery id, sealed, age since the commit, ms, state ('' = untouched), parts}, …}
local nowMs = redisNowMs()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs, 'LIMIT', 0, ARGV[4])) do
  local kept = redis.call('HMGET', ARGV[1] .. id, 'sealed', 'atMs', 'state', 'parts')
  if kept[1] then
    redis.call('HSET', ARGV[1] .. id, 'claim', ARGV[2])
    redis.call('ZADD', KEYS[1], nowMs + ARGV[3], id)
    taken[#taken + 1] = {id, kept[1], nowMs - tonumber(kept[2]), kept[3] or '', kept[4] or ''}
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return taken
