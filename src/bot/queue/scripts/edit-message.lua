-- Deletes or edits one accepted message in whatever state it is. Safe to repeat: a deleted message stays deleted, and an edit that is not
-- newer than the last one changes nothing.
--
-- Constants  STOP_CHANNEL, NOTE_LIFE_MS (life of a note about a message that has not arrived yet)
-- Keys       record: of the message   state   inbox   held
-- Arguments  deliveryId   conversationId   messagePrefix: of message keys   owner: person id
--            kind: 'deleted' | 'edited'   editedAt: of an edit; greater is later
--            sealed: the new message; without its content if deleted   mergeKey: as in accept.lua
--            mayCome: whether to remember the change for a message that is not known yet
-- Returns    where: 'unknown' | 'elsewhere' (in conversationId) | 'waiting' | 'held' (under the invitation of the turn turnId) |
--            'running' (its turn ends or restarts) | 'answered' (in the turn turnId) | 'nothing' (was changed)
--            isRepeat: for 'answered', the same change came before   nothingWaits: for a deleted 'held' message, no other uses its invitation
local record = redis.call('HMGET', keys.record, 'state', 'conversation', 'owner', 'deleted', 'editedAt', 'turn')
local state, isDeleted, editedAt = record[1], args.kind == 'deleted', tonumber(args.editedAt)
local function noteEdit() redis.call('HSET', keys.record, 'editedAt', args.editedAt) end
local turn = record[6] or args.deliveryId

-- An invitation is the answer to one message. If several messages share it, it passes to the newest that still waits.
local function leaveInvitation()
  local others = {}
  for _, entry in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
    local id = readEntry(entry).id
    if id ~= args.deliveryId and redis.call('HGET', args.messagePrefix .. id, 'turn') == turn then others[#others + 1] = id end
  end
  local heir = others[#others]
  if heir and turn == args.deliveryId then
    for _, field in ipairs({'post:0', 'since:0', 'by:0', 'keep', 'finished', 'delivery'}) do
      local value = redis.call('HGET', keys.record, field)
      if value then redis.call('HSET', args.messagePrefix .. heir, field, value) end
      redis.call('HDEL', keys.record, field)
    end
    for _, id in ipairs(others) do redis.call('HSET', args.messagePrefix .. id, 'turn', heir) end
  end
  return answer { where = 'held', turnId = turn, nothingWaits = not heir }
end

if not state then
  if args.mayCome ~= '1' or (not isDeleted and tonumber(record[5] or '0') >= editedAt) then return answer { where = 'unknown' } end
  redis.call('HDEL', keys.record, 'editedTo', 'editedMerge')
  -- guard: taken-back/deleted-mark
  if isDeleted then redis.call('HSET', keys.record, 'state', 'deleted')
  else redis.call('HSET', keys.record, 'editedAt', args.editedAt, 'editedTo', args.sealed, 'editedMerge', args.mergeKey) end
  redis.call('PEXPIRE', keys.record, NOTE_LIFE_MS)
  return answer { where = 'unknown' }
end
if state == 'deleted' or state == 'limited' then
  -- The caller repeats the deletion because the invitation could not be deleted.
  local left = redis.call('HMGET', args.messagePrefix .. turn, 'state', 'keep')
  if isDeleted and left[1] == 'deleted' and left[2] == '1' then return answer { where = 'held', turnId = turn, nothingWaits = true } end
  return answer { where = 'nothing' }
end
if record[2] and record[2] ~= args.conversationId then return answer { where = 'elsewhere', conversationId = record[2] } end
-- Only its author may change a message.
-- guard: taken-back/own-message
if record[3] and record[3] ~= args.owner then return answer { where = 'nothing' } end
local isAnswered, isRepeat = state ~= 'accepted' and state ~= 'held', false
if isDeleted then isRepeat = record[4] == '1'
else
  isRepeat = tonumber(record[5] or '0') >= editedAt
  if record[4] == '1' or tonumber(record[5] or '0') > editedAt then return answer { where = 'nothing' } end
end
if isAnswered then
  if isDeleted then redis.call('HSET', keys.record, 'deleted', '1') else noteEdit() end
  return answer { where = 'answered', turnId = record[6] or args.deliveryId, isRepeat = isRepeat }
end
if isRepeat then return answer { where = 'nothing' } end

local list = state == 'held' and keys.held or keys.inbox
local entries, at = redis.call('LRANGE', list, 0, -1), nil
for index, entry in ipairs(entries) do
  if readEntry(entry).id == args.deliveryId then at = index end
end
if not at and isDeleted and state == 'held' then
  -- The message waited too long for its sender's sign-in and has expired.
  redis.call('HSET', keys.record, 'state', 'deleted')
  return leaveInvitation()
end
if not at then return answer { where = 'nothing' } end
local entry = readEntry(entries[at])
local function rewrite(mergeKey) redis.call('LSET', list, at - 1, writeEntry(entry.id, mergeKey, entry.takenMs, entry.seq, args.sealed)) end

local begun = redis.call('HMGET', keys.state, 'turn', 'size')
local size = tonumber(begun[2] or '0')
local isBegun = state == 'accepted' and begun[1] and at <= size
if not isBegun then
  if isDeleted then
    -- guard: taken-back/leaves-inbox
    redis.call('LREM', list, 1, entries[at])
    redis.call('HSET', keys.record, 'state', 'deleted')
    if state == 'held' then return leaveInvitation() end
  else
    rewrite(args.mergeKey)
    noteEdit()
  end
  return answer { where = state == 'held' and 'held' or 'waiting' }
end

rewrite(entry.mergeKey)
if isDeleted then redis.call('HSET', keys.record, 'deleted', '1') else noteEdit() end
local isAllDeleted = isDeleted
for index = 1, size do
  local id = entries[index] and readEntry(entries[index]).id
  if id and redis.call('HGET', args.messagePrefix .. id, 'deleted') ~= '1' then isAllDeleted = false end
end
if isAllDeleted then
  redis.call('HSET', keys.record, 'stopped', '1')
  tellTurn(args.conversationId, 0, args.owner, args.deliveryId)
else
  -- This mark makes commit.lua refuse the answer to the old question; the next claim clears it (claim.lua).
  redis.call('HSET', keys.state, 'amended', begun[1])
  tellTurn(args.conversationId, 'amended')
end
return answer { where = 'running' }
