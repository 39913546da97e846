-- Renews a worker's claim on a conversation: the fence is asked, the sweeper sees that somebody is at work.
--
-- KEYS  1 state   2 pending   3 … message records of the turn
-- ARGV  1 epoch   2 conversation id
-- Returns {1 | 0 when a newer epoch exists, stop sequence, stop owner, 1 if one of its messages was stopped by itself}
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return {0, '0', '', 0} end
redis.call('ZADD', KEYS[2], 'XX', redisNowMs(), ARGV[2])
local stop = redis.call('HMGET', KEYS[1], 'stopSeq', 'stopOwner')
local isStopped = 0
for index = 3, #KEYS do
  if redis.call('HEXISTS', KEYS[index], 'stopped') == 1 then isStopped = 1 end
end
return {1, stop[1] or '0', stop[2] or '', isStopped}
