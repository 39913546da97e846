-- Renews a worker's claim on a conversation: checks the fence, and shows other workers and the sweeper that the turn is running.
-- A turn that was committed or given back has no claim.
--
-- Keys       state   pending   records: of the turn's messages
-- Arguments  epoch   conversationId   did: steps of the worker since the last renewal; '' = none
-- Returns    isCurrent: whether the claim is still valid   stopSeq   stopOwner   wasStopped: one of the messages was stopped individually
--            wasAmended: the question has changed
local claim = redis.call('HMGET', keys.state, 'epoch', 'aliveMs')
-- guard: fence/renew
if tonumber(claim[1] or '0') ~= tonumber(args.epoch) or not claim[2] then return answer { isCurrent = false } end
local nowMs = redisNowMs()
-- A script that first deletes a field may write more even in a full Redis.
redis.call('HDEL', keys.state, 'aliveMs')
redis.call('HSET', keys.state, 'aliveMs', nowMs, unpack(args.did == '' and {} or {'did', args.did}))
-- guard: accept-once/renewed-is-pending
redis.call('ZADD', keys.pending, 'XX', nowMs, args.conversationId)
local stop = redis.call('HMGET', keys.state, 'stopSeq', 'stopOwner', 'amended')
local isStopped = false
for _, record in ipairs(keys.records) do
  -- guard: no-second-beginning/stopped-while-running
  if redis.call('HEXISTS', record, 'stopped') == 1 then isStopped = true end
end
return answer { isCurrent = true, stopSeq = stop[1], stopOwner = stop[2], wasStopped = isStopped, wasAmended = stop[3] and true }
