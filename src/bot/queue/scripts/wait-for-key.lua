-- Notes that a conversation waits for a worker with another key. The sweeper wakes it again, so that any worker may look.
-- A key that stays away must not hold up what can be read: after a while what waits for it lets the others pass, and from
-- then on at once. Until then the order stays, since in a change of keys another worker has it.
-- Safe to repeat: what was put behind is not at the head any more.
--
-- Constants  PATIENCE_MS
-- keys  state   inbox   pending
-- args  conversationId   keyIds: of the keys that this worker has   epochStep: how far the epoch goes on
-- Answers 1 when something that can be read came to the head, else 0
local head = redis.call('LINDEX', keys.inbox, 0)
if not head then return 0 end
local nowMs = redisNowMs()
redis.call('ZADD', keys.pending, nowMs, args.conversationId)
local function isLocked(entry)
  local keyId = string.match(entry, '^%x+:[^:]+:%d+:%d+:s1%.(%x+)%.')
  return keyId and not string.find(args.keyIds, keyId, 1, true)
end
local function seqOf(entry) return tonumber(string.match(entry, '^%x+:[^:]+:%d+:(%d+):') or '0') end

-- Whoever has the key takes a new epoch, and with it the wait that is noted here is over.
local state = redis.call('HMGET', keys.state, 'epoch', 'keyless', 'passed')
local wait = (state[1] or '0') .. ':' .. string.match(head, '^(%x+):') .. ':'
local noted, passed = state[2] or '', tonumber(state[3] or '0')
if not (isLocked(head) and seqOf(head) <= passed) then
  if string.sub(noted, 1, #wait) ~= wait then
    redis.call('HSET', keys.state, 'keyless', wait .. nowMs)
    return 0
  end
  if nowMs - tonumber(string.sub(noted, #wait + 1)) < PATIENCE_MS then return 0 end
end

local locked, open = {}, 0
for _, entry in ipairs(redis.call('LRANGE', keys.inbox, 0, -1)) do
  if isLocked(entry) then
    locked[#locked + 1] = entry
    passed = math.max(passed, seqOf(entry))
  else
    open = open + 1
  end
end
if open == 0 then return 0 end
-- A worker that runs the turn after all is fenced by the epoch: its commit would take the wrong messages out.
redis.call('HINCRBY', keys.state, 'epoch', args.epochStep)
redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'keyless')
redis.call('HSET', keys.state, 'passed', passed)
for _, entry in ipairs(locked) do
  redis.call('LREM', keys.inbox, 1, entry)
  redis.call('RPUSH', keys.inbox, entry)
end
return 1
