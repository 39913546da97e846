-- Finds pending conversations of a partition that were not touched for a while, and touches them, so that other sweepers skip them for a
-- moment. Safe to repeat: conversations named in a lost answer are found again after that moment.
--
-- Keys       pending
-- Arguments  untouchedMs: minimum time since the last touch   limit: maximum conversations   touchedAgoMs: age of the new touch
-- Returns    conversation ids, the longest untouched first, then those touched equally far in the future
local nowMs = redisNowMs()
-- guard: accept-once/stale-only
local ids = redis.call('ZRANGEBYSCORE', keys.pending, '-inf', nowMs - args.untouchedMs, 'LIMIT', 0, args.limit)
-- A touch in the future shows that the clock was set back. Such conversations would be skipped until the clock catches up.
if #ids < tonumber(args.limit) then
  local ahead = redis.call('ZRANGEBYSCORE', keys.pending, nowMs + args.untouchedMs, '+inf', 'LIMIT', 0, args.limit - #ids)
  for _, id in ipairs(ahead) do table.insert(ids, id) end
end
local touched = {}
for _, id in ipairs(ids) do
  table.insert(touched, nowMs - args.touchedAgoMs)
  table.insert(touched, id)
end
if #ids > 0 then redis.call('ZADD', keys.pending, unpack(touched)) end
return ids
