-- Renews a worker's claim on a conversation: the fence is asked, other workers and the sweeper see that somebody is at work.
-- A turn that was committed or given back has no claim any more.
--
-- keys  state   pending   records: of the turn's messages
-- args  epoch   conversationId
-- Answers isCurrent: whether the claim still is   stopSeq   stopOwner   wasStopped: one of its messages was stopped by itself
--         wasAmended: what it asks has changed
local claim = redis.call('HMGET', keys.state, 'epoch', 'aliveMs')
if tonumber(claim[1] or '0') ~= tonumber(args.epoch) or not claim[2] then return answer { isCurrent = false } end
local nowMs = redisNowMs()
-- To take a field away, and then to write more, is possible in a full Redis too.
redis.call('HDEL', keys.state, 'aliveMs')
redis.call('HSET', keys.state, 'aliveMs', nowMs)
redis.call('ZADD', keys.pending, 'XX', nowMs, args.conversationId)
local stop = redis.call('HMGET', keys.state, 'stopSeq', 'stopOwner', 'amended')
local isStopped = false
for _, record in ipairs(keys.records) do
  if redis.call('HEXISTS', record, 'stopped') == 1 then isStopped = true end
end
return answer { isCurrent = true, stopSeq = stop[1], stopOwner = stop[2], wasStopped = isStopped, wasAmended = stop[3] and true }
