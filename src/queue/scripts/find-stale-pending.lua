-- Finds conversations of a partition that have something waiting and that nobody has touched for a while, and touches them, so
-- that other sweepers leave them alone for a moment. Safe to repeat: what a lost answer named is found again after that moment.
--
-- KEYS  1 pending
-- ARGV  1 how long ago they were touched, ms, at least   2 most of them   3 so long ago they count as touched now, ms
-- Returns {conversation ids}, the longest untouched first, then those touched that far ahead of the clock
local nowMs = redisNowMs()
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs - ARGV[1], 'LIMIT', 0, ARGV[2])
-- Nobody touches in the future: since then the clock was set back, and they would be left alone until it has come so far again.
if #ids < tonumber(ARGV[2]) then
  local ahead = redis.call('ZRANGEBYSCORE', KEYS[1], nowMs + ARGV[1], '+inf', 'LIMIT', 0, ARGV[2] - #ids)
  for _, id in ipairs(ahead) do table.insert(ids, id) end
end
local touched = {}
for _, id in ipairs(ids) do
  table.insert(touched, nowMs - ARGV[3])
  table.insert(touched, id)
end
if #ids > 0 then redis.call('ZADD', KEYS[1], unpack(touched)) end
return ids
