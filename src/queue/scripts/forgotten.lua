-- Finds conversations of a partition that have something waiting and that nobody has touched for a while, and touches them, so
-- that other sweepers leave them alone for a moment. Safe to repeat: what a lost answer named is found again after that moment.
--
-- KEYS  1 pending
-- ARGV  1 how long ago they were touched, ms, at least   2 most of them   3 so long ago they count as touched now, ms
-- Returns {conversation ids}, the longest untouched first
local nowMs = redisNowMs()
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', nowMs - ARGV[1], 'LIMIT', 0, ARGV[2])
local touched = {}
for _, id in ipairs(ids) do
  table.insert(touched, nowMs - ARGV[3])
  table.insert(touched, id)
end
if #ids > 0 then redis.call('ZADD', KEYS[1], unpack(touched)) end
return ids
