-- Finds conversations of a partition that have something waiting and that nobody has touched for a while, and touches them, so
-- that other sweepers leave them alone for a moment. Safe to repeat: what a lost answer named is found again after that moment.
--
-- args  untouchedMs: how long ago they were touched, at least   most   touchedAgoMs: so long ago they count as touched now
-- Answers conversation ids, the longest untouched first, then those touched that far ahead of the clock
local nowMs = redisNowMs()
local ids = redis.call('ZRANGEBYSCORE', keys.pending, '-inf', nowMs - args.untouchedMs, 'LIMIT', 0, args.most)
-- Nobody touches in the future: since then the clock was set back, and they would be left alone until it has come so far again.
if #ids < tonumber(args.most) then
  local ahead = redis.call('ZRANGEBYSCORE', keys.pending, nowMs + args.untouchedMs, '+inf', 'LIMIT', 0, args.most - #ids)
  for _, id in ipairs(ahead) do table.insert(ids, id) end
end
local touched = {}
for _, id in ipairs(ids) do
  table.insert(touched, nowMs - args.touchedAgoMs)
  table.insert(touched, id)
end
if #ids > 0 then redis.call('ZADD', keys.pending, unpack(touched)) end
return ids
