-- Brings held messages back after their sender signed in, in the order in which all were accepted. Their age counts from now.
-- What was said before the sign-in is forgotten (SECURITY.md link-is-told). A turn that is open keeps its place in front, or
-- gives it up, fenced, when it finds out itself that older questions of its sender are still held.
-- In a group others may wait too: only one person's come back, as old as they are, and what was said there stays.
-- Safe to repeat: with nothing held, nothing changes; a turn that gave its place up finds that it has none.
--
-- Constants  CLEARED_MARK_MS (life of the mark of a cleared summary), RECORD_LIFE_MS (of a message record, should it have expired)
-- KEYS  1 state   2 inbox   3 pending   4 held   5 history   6 summary
-- ARGV  1 conversation id   2 message key prefix   3 epoch of the turn that gives its place up ('' = it keeps it)
--       4 whose messages come back ('' = everybody's: a release by an older version names nobody)
-- Returns {how many were released (-1: the turn has no place any more), '1' if a turn is open: it may have begun before the sign-in, and be held yet}
local state = redis.call('HMGET', KEYS[1], 'epoch', 'turn', 'size')
local isOpen = state[2] and '1' or '0'
local givesUp = ARGV[3] ~= ''
if givesUp and tonumber(state[1] or '0') ~= tonumber(ARGV[3]) then return {-1, isOpen} end
local held, isOfGroup = {}, false
for _, entry in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
  local record = redis.call('HMGET', ARGV[2] .. string.match(entry, '^%x+'), 'owner', 'heldIn')
  if ARGV[4] == '' or not record[1] or record[1] == ARGV[4] then
    held[#held + 1] = entry
    isOfGroup = isOfGroup or record[2] == 'group'
  end
end
if #held == 0 then return {0, isOpen} end
-- Held in another order than they were accepted in, if one came back in vain behind an open turn that was held then.
local function seqOf(entry) return tonumber(string.match(entry, '^%x+:[^:]+:%d+:(%d+):')) end
table.sort(held, function(one, other) return seqOf(one) < seqOf(other) end)
if givesUp then
  redis.call('HDEL', KEYS[1], 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs')
  -- Refused from here on, whatever of it is still on its way; and this step, should it be sent once more.
  redis.call('HINCRBY', KEYS[1], 'epoch', 1)
  isOpen = '0'
end

local released, releasedMs, last = {}, redisNowMs(), ''
for index = #held, 1, -1 do
  local id, merge, saidMs, seq, body = string.match(held[index], '^(%x+):([^:+]+)[^:]*:(%d+):(%d+):(.*)$')
  -- What stands in the app as a message of its own is answered there: nothing newer may be merged with it.
  if redis.call('HEXISTS', ARGV[2] .. id, 'post:0') == 1 then last = '+' .. seq end
  if merge ~= '-' then merge = merge .. last end
  released[index] = {tonumber(seq), id .. ':' .. merge .. ':' .. (isOfGroup and saidMs or releasedMs) .. ':' .. seq .. ':' .. body}
  redis.call('HSET', ARGV[2] .. id, 'state', 'accepted')
  if redis.call('PTTL', ARGV[2] .. id) == -1 then redis.call('PEXPIRE', ARGV[2] .. id, RECORD_LIFE_MS) end
end
local kept = givesUp and 0 or tonumber(state[3] or '0')
local waiting = redis.call('LRANGE', KEYS[2], kept, -1)
for _ = 1, #waiting do redis.call('RPOP', KEYS[2]) end
local at = 1
for _, entry in ipairs(waiting) do
  local seq = seqOf(entry)
  while released[at] and released[at][1] < seq do
    redis.call('RPUSH', KEYS[2], released[at][2])
    at = at + 1
  end
  redis.call('RPUSH', KEYS[2], entry)
end
for index = at, #released do redis.call('RPUSH', KEYS[2], released[index][2]) end
for _, entry in ipairs(held) do redis.call('LREM', KEYS[4], 1, entry) end
if not isOfGroup then
  redis.call('DEL', KEYS[5])
  redis.call('SET', KEYS[6], '-' .. releasedMs, 'PX', CLEARED_MARK_MS)
end
redis.call('ZADD', KEYS[3], releasedMs, ARGV[1])
return {#held, isOpen}
