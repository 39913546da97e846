-- Brings held messages back after their sender signed in, in the order in which all were accepted. Their age counts from now.
-- What was said before the sign-in is forgotten (SECURITY.md link-is-told). A turn that is open keeps its place in front, or
-- gives it up, fenced, when it finds out itself that older questions of its sender are still held.
-- In a group others may wait too: only one person's come back, as old as they are, and what was said there stays.
-- Safe to repeat: with nothing held, nothing changes; a turn that gave its place up finds that it has none.
--
-- Constants  CLEARED_MARK_MS (life of the mark of a cleared summary), RECORD_LIFE_MS (of a message record, should it have expired)
-- keys  state   inbox   pending   held   history   summary
-- args  conversationId   messagePrefix: of message keys   epoch: of the turn that gives its place up ('' = it keeps it)
--       owner: whose messages come back ('' = everybody's: a release by an older version names nobody)
-- Answers count: how many were released (-1: the turn has no place any more)   isTurnOpen: it may have begun before the sign-in, and be held yet
local state = redis.call('HMGET', keys.state, 'epoch', 'turn', 'size')
local isOpen = state[2] and true
local givesUp = args.epoch ~= ''
if givesUp and tonumber(state[1] or '0') ~= tonumber(args.epoch) then return answer { count = -1, isTurnOpen = isOpen } end
local held, isOfGroup = {}, false
for _, entry in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
  local record = redis.call('HMGET', args.messagePrefix .. string.match(entry, '^%x+'), 'owner', 'heldIn')
  if args.owner == '' or not record[1] or record[1] == args.owner then
    held[#held + 1] = entry
    isOfGroup = isOfGroup or record[2] == 'group'
  end
end
if #held == 0 then return answer { count = 0, isTurnOpen = isOpen } end
-- Held in another order than they were accepted in, if one came back in vain behind an open turn that was held then.
local function seqOf(entry) return tonumber(string.match(entry, '^%x+:[^:]+:%d+:(%d+):')) end
table.sort(held, function(one, other) return seqOf(one) < seqOf(other) end)
if givesUp then
  redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs')
  -- Refused from here on, whatever of it is still on its way; and this step, should it be sent once more.
  redis.call('HINCRBY', keys.state, 'epoch', 1)
  isOpen = false
end

local released, releasedMs, last = {}, redisNowMs(), ''
for index = #held, 1, -1 do
  local id, merge, saidMs, seq, body = string.match(held[index], '^(%x+):([^:+]+)[^:]*:(%d+):(%d+):(.*)$')
  -- What stands in the app as a message of its own is answered there: nothing newer may be merged with it.
  if redis.call('HEXISTS', args.messagePrefix .. id, 'post:0') == 1 then last = '+' .. seq end
  if merge ~= '-' then merge = merge .. last end
  released[index] = {tonumber(seq), id .. ':' .. merge .. ':' .. (isOfGroup and saidMs or releasedMs) .. ':' .. seq .. ':' .. body}
  redis.call('HSET', args.messagePrefix .. id, 'state', 'accepted')
  if redis.call('PTTL', args.messagePrefix .. id) == -1 then redis.call('PEXPIRE', args.messagePrefix .. id, RECORD_LIFE_MS) end
end
local kept = givesUp and 0 or tonumber(state[3] or '0')
local waiting = redis.call('LRANGE', keys.inbox, kept, -1)
for _ = 1, #waiting do redis.call('RPOP', keys.inbox) end
local at = 1
for _, entry in ipairs(waiting) do
  local seq = seqOf(entry)
  while released[at] and released[at][1] < seq do
    redis.call('RPUSH', keys.inbox, released[at][2])
    at = at + 1
  end
  redis.call('RPUSH', keys.inbox, entry)
end
for index = at, #released do redis.call('RPUSH', keys.inbox, released[index][2]) end
for _, entry in ipairs(held) do redis.call('LREM', keys.held, 1, entry) end
if not isOfGroup then
  redis.call('DEL', keys.history)
  redis.call('SET', keys.summary, '-' .. releasedMs, 'PX', CLEARED_MARK_MS)
end
redis.call('ZADD', keys.pending, releasedMs, args.conversationId)
return answer { count = #held, isTurnOpen = isOpen }
