-- Records that a conversation waits for a worker with another key. The sweeper wakes it again, so that any worker can try.
-- A missing key must not block readable messages for ever: after PATIENCE_MS the entries that need it move behind the others, and later at once
-- whenever they reach the head again. Until then the order stays, because during a key change another worker has the key.
-- Safe to repeat: entries that moved are no longer at the head.
--
-- Constants  PATIENCE_MS
-- Keys       state   inbox   pending
-- Arguments  conversationId   keyIds: keys of this worker   epochStep: increment of the epoch
-- Returns    1 if a readable entry came to the head, else 0
local headText = redis.call('LINDEX', keys.inbox, 0)
if not headText then return 0 end
local head = readEntry(headText)
local nowMs = redisNowMs()
redis.call('ZADD', keys.pending, nowMs, args.conversationId)

-- A worker that has the key takes a new epoch, which ends the wait noted here.
local state = redis.call('HMGET', keys.state, 'epoch', 'keyless', 'passed')
local wait = (state[1] or '0') .. ':' .. head.id .. ':'
local noted, passed = state[2] or '', tonumber(state[3] or '0')
if not (lackedKeyOf(head, args.keyIds) and head.seq <= passed) then
  if string.sub(noted, 1, #wait) ~= wait then
    redis.call('HSET', keys.state, 'keyless', wait .. nowMs)
    return 0
  end
  if nowMs - tonumber(string.sub(noted, #wait + 1)) < PATIENCE_MS then return 0 end
end

local locked, open = {}, 0
for _, text in ipairs(redis.call('LRANGE', keys.inbox, 0, -1)) do
  local entry = readEntry(text)
  if lackedKeyOf(entry, args.keyIds) then
    locked[#locked + 1] = text
    passed = math.max(passed, entry.seq)
  else
    open = open + 1
  end
end
if open == 0 then return 0 end
-- The epoch fences a worker that runs the turn after all: its commit would remove the wrong messages.
redis.call('HINCRBY', keys.state, 'epoch', args.epochStep)
redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'keyless')
redis.call('HSET', keys.state, 'passed', passed)
for _, text in ipairs(locked) do
  redis.call('LREM', keys.inbox, 1, text)
  redis.call('RPUSH', keys.inbox, text)
end
return 1
