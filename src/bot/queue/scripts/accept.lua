-- Stores one message once: remembers its delivery, appends it to the inbox and marks the conversation as pending.
-- Safe to repeat: a known delivery changes nothing.
--
-- Inbox and state get no expiry here: waiting messages must not vanish, however long no worker runs (claim.lua sets the state's expiry).
--
-- Constants  REMEMBER_MS (life of a message record), STOP_CHANNEL,
--            MAX_INBOX (maximum waiting messages of this conversation; the next one gets `full`, and accept.ts sets the number),
--            MAX_INBOX_FOR_COMMANDS (the same for slash commands, which finish at once),
--            MAX_OF_A_PERSON and MAX_OF_A_CHAT (maximum messages per minute),
--            MAX_BEFORE_A_STOP (a person's messages per minute above which a stop command still acts but gets no reply)
-- Keys       record: of the message   inbox   state   pending
--            personRate: counts over all chats; on a cluster only over the chats of this partition (person-limit.ts)
--            chatRate: groups only
-- Arguments  deliveryId   conversationId   owner: person id   mergeKey: inbox-entry.ts   sealed: the message
--            command: 'stop' | 'other' for another slash command | '' for a question
--            isAnswerableLater: the platform has a later way for its answer   isOverLimit: the person exceeded the limit in other chats
--            opener: for a stop command in a thread, the delivery that began the thread, else ''
--            target: reply target, encrypted separately so that an apology can be sent for an unreadable message; '' where the platform polls
--            saidAtMs: platform clock; '' if unknown   chatOrder: position in the chat; '' where the platform gives none
--            takenBeforeMs: acceptance time of a message that was acknowledged before and is stored again, else ''
--            history: replication history of Redis a moment ago; '' if unknown
-- Returns    result: 'new' | 'limited' (refused by a rate limit, now or before; a stop command has taken effect) | 'full' (as
--            'limited', because the inbox is full) | 'repeat'
--            takenAtMs: acceptance time if the message waits, else 0   history: present replication history, if the caller did not know it
local isStop = args.command == 'stop'
local takenBeforeMs, chatOrder = tonumber(args.takenBeforeMs), tonumber(args.chatOrder)
local isAgain = takenBeforeMs ~= nil

local known, acceptedMs, editedTo, editedMerge, wasFull = unpack(redis.call('HMGET', keys.record, 'state', 'atMs', 'editedTo', 'editedMerge', 'full'))
-- After a failover, posts are unknown unless the record contains them. post.lua reads this mark.
if isAgain and known ~= 'limited' then
  redis.call('HSET', keys.record, 'again', '1', 'againMs', redisNowMs())
  redis.call('HDEL', keys.record, 'polledAgain')
end
-- guard: accept-once/known-message
if known then
  return answer { result = known == 'limited' and (wasFull and 'full' or known) or 'repeat', takenAtMs = known == 'accepted' and tonumber(acceptedMs) or 0 }
end

-- All ages use the Redis clock, whichever process stores, answers, polls or sweeps.
local nowMs = redisNowMs()
-- Numbers are passed as texts: Redis 7.0 formats a number as slowly as it runs some commands.
local nowText = string.format('%.0f', nowMs)
local recordPrefix = string.sub(keys.record, 1, #keys.record - #args.deliveryId)

-- One write per message: every write of a script is also written to the append-only file.
local function count(key)
  return redis.call('SET', key, '1', 'PX', '60000', 'NX') and 1 or redis.call('INCR', key)
end

local ofPerson = count(keys.personRate)
-- guard: rate-limits/person
local isLimited = ofPerson > MAX_OF_A_PERSON or args.isOverLimit == '1'
-- A private chat has one person, whose own limit is lower.
-- guard: rate-limits/chat
if keys.chatRate and count(keys.chatRate) > MAX_OF_A_CHAT then isLimited = true end
-- A stop command bypasses the usual limits, because it ends a flood.
-- guard: rate-limits/stop
if isStop then isLimited = ofPerson > MAX_BEFORE_A_STOP end
-- A conversation is pending while messages wait in its inbox. A new one is marked here and needs no count, and a full one is
-- already marked. A refused message does not mark its conversation.
local isRefused = isLimited and not isAgain
-- guard: accept-once/pending
local isNew = not isRefused and redis.call('ZADD', keys.pending, 'NX', nowText, args.conversationId) == 1
local waiting = isNew and 0 or redis.call('LLEN', keys.inbox)
-- guard: back-pressure/full-inbox
local isFull = waiting >= (args.command ~= '' and MAX_INBOX_FOR_COMMANDS or MAX_INBOX)

local function setStop(seq)
  redis.call('HSET', keys.state, 'stopSeq', seq, 'stopOwner', args.owner)
  tellTurn(args.conversationId, seq, args.owner)
end
-- The answer that opens a thread belongs to a question of the chat, which is another conversation: mark only that message.
local function stopOpener()
  local opener = args.opener ~= '' and recordPrefix .. args.opener
  local state, owner, conversationId = unpack(opener and redis.call('HMGET', opener, 'state', 'owner', 'conversation') or {})
  -- guard: no-second-beginning/own-opener
  if owner ~= args.owner or (state ~= 'accepted' and state ~= 'held') then return false end
  redis.call('HSET', opener, 'stopped', '1')
  tellTurn(conversationId, 0, args.owner, args.opener)
  return true
end

-- A message that was acknowledged once stays accepted.
if (isLimited or isFull) and not isAgain then
  redis.call('HSET', keys.record, 'state', 'limited', 'owner', args.owner, 'atMs', nowMs, unpack(isFull and {'full', '1'} or {}))
  redis.call('PEXPIRE', keys.record, REMEMBER_MS)
  if isStop then
    -- Without a state there is nothing to stop: no message was accepted here, and a new state would never expire. A stop that
    -- is older than the newest message is ignored.
    local saidMs = tonumber(args.saidAtMs) or nowMs
    if redis.call('EXISTS', keys.state) == 1 and saidMs >= tonumber(redis.call('HGET', keys.state, 'saidMs') or '0') then
      setStop(redis.call('HINCRBY', keys.state, 'seq', 1))
    end
    stopOpener()
  end
  return answer { result = isFull and 'full' or 'limited' }
end

local takenMs = isAgain and math.min(takenBeforeMs, nowMs) or nowMs
local takenText = isAgain and string.format('%.0f', takenMs) or nowText
-- Waiting messages keep the order of the chat, in whatever order their deliveries arrive. In a chat without an order, a
-- message that is stored again is placed by its acceptance time. A turn that has begun keeps its place in front. Entries
-- behind the new one get new sequence numbers, so that a stop ends only messages sent before it.
-- behind: waiting entries that come after the new one; isOvertaken: the new one was sent before a message already stored.
local behind, isOvertaken = {}, false
local turn, size, newestSaidMs, lastSeq = unpack(redis.call('HMGET', keys.state, 'turn', 'size', 'saidMs', 'seq'))
local function isLater(entry)
  local order = chatOrder and entry.seq and tonumber(redis.call('HGET', recordPrefix .. entry.id, 'chatOrder') or '')
  -- guard: in-order/chat-order
  if order then return order > chatOrder end
  if isAgain then return (entry.takenMs or 0) > takenMs end
end
if waiting > 0 and (isAgain or chatOrder) then
  local begun = turn and tonumber(size or '0') or 0
  for _, text in ipairs(isAgain and begun > 0 and redis.call('LRANGE', keys.inbox, 0, begun - 1) or {}) do
    isOvertaken = isOvertaken or isLater(readEntry(text))
  end
  local entries = redis.call('LRANGE', keys.inbox, begun, -1)
  local first = #entries + 1
  for index = #entries, 1, -1 do
    entries[index] = readEntry(entries[index])
    local later = isLater(entries[index])
    if later then first = index end
    -- Waiting messages are already in order.
    if later == false and not isAgain then break end
  end
  for index = first, #entries do behind[#behind + 1] = entries[index] end
  for _ = 1, #behind do redis.call('RPOP', keys.inbox) end
end
-- Commands that a receiver sent while Redis was stalled run late, although the delivery was refused. A stop among them
-- applies to earlier messages only.
local saidMs = not isAgain and tonumber(args.saidAtMs)
local isNewest = saidMs and saidMs >= tonumber(newestSaidMs or '0')
if saidMs and not isNewest then isOvertaken = true end
local seq = tonumber(lastSeq or '0') + 1
-- A message that is stored again may have been answered already, alone or with others. It becomes a separate turn, whichever
-- version reads it.
local mergeKey = isAgain and '-' or editedMerge or args.mergeKey
-- The message was edited before it arrived (edit-message.lua).
if editedTo then redis.call('HDEL', keys.record, 'editedTo', 'editedMerge') end
redis.call('RPUSH', keys.inbox, writeEntry(args.deliveryId, mergeKey, takenText, seq, editedTo or args.sealed))
local stopSeq, stopServed = unpack(#behind > 0 and redis.call('HMGET', keys.state, 'stopSeq', 'stopServed') or {})
for index, entry in ipairs(behind) do
  local newSeq = seq + index
  redis.call('RPUSH', keys.inbox, entry.seq and writeEntry(entry.id, entry.mergeKey, entry.takenMs, newSeq, sealedOf(entry)) or entry.text)
  if entry.seq and entry.seq == tonumber(stopSeq or '') then redis.call('HSET', keys.state, 'stopSeq', newSeq) end
  if entry.seq and entry.seq == tonumber(stopServed or '') then redis.call('HSET', keys.state, 'stopServed', newSeq) end
end
-- Written with one command each, which also keeps the append-only file small.
if isNewest then redis.call('HSET', keys.state, 'seq', seq + #behind, 'saidMs', args.saidAtMs)
else redis.call('HSET', keys.state, 'seq', seq + #behind) end
local asked = args.history == '' and redisHistory()
local fields = {'state', 'accepted', 'conversation', args.conversationId, 'owner', args.owner, 'atMs', takenText, 'history', asked or args.history}
if args.target ~= '' then fields[#fields + 1], fields[#fields + 2] = 'target', args.target end
if chatOrder then fields[#fields + 1], fields[#fields + 2] = 'chatOrder', args.chatOrder end
if args.isAnswerableLater == '1' then fields[#fields + 1], fields[#fields + 2] = 'later', '1' end
redis.call('HSET', keys.record, unpack(fields))
-- guard: accept-once/record-life
redis.call('PEXPIRE', keys.record, REMEMBER_MS)
if isStop then
  -- A running turn is not stopped if its message was sent later. Of two stops, the one sent last counts.
  if not isOvertaken and seq >= tonumber(redis.call('HGET', keys.state, 'stopSeq') or '0') then setStop(seq) end
  if stopOpener() then redis.call('HSET', keys.state, 'stopServed', seq) end
end
return answer { result = 'new', takenAtMs = takenMs, history = asked }
