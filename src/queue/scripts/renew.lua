-- Renews a worker's claim on a conversation: the fence is asked, other workers and the sweeper see that somebody is at work.
-- A turn that was committed or given back has no claim any more.
--
-- KEYS  1 state   2 pending   3 … message records of the turn
-- ARGV  1 epoch   2 conversation id
-- Returns {1 | 0 when the claim is no more, stop sequence, stop owner, 1 if one of its messages was stopped by itself}
local claim = redis.call('HMGET', KEYS[1], 'epoch', 'aliveMs')
if tonumber(claim[1] or '0') ~= tonumber(ARGV[1]) or not claim[2] then return {0, '0', '', 0} end
local nowMs = redisNowMs()
-- To take a field away, and then to write more, is possible in a full Redis too.
redis.call('HDEL', KEYS[1], 'aliveMs')
redis.call('HSET', KEYS[1], 'aliveMs', nowMs)
redis.call('ZADD', KEYS[2], 'XX', nowMs, ARGV[2])
local stop = redis.call('HMGET', KEYS[1], 'stopSeq', 'stopOwner')
local isStopped = 0
for index = 3, #KEYS do
  if redis.call('HEXISTS', KEYS[index], 'stopped') == 1 then isStopped = 1 end
end
return {1, stop[1] or '0', stop[2] or '', isStopped}
