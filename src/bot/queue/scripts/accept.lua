-- Stores one message, once: remembers its delivery, appends it to the inbox, marks the conversation pending.
-- Safe to repeat: a known delivery changes nothing.
--
-- Inbox and state get no life here: what waits must not vanish, however long no worker comes (begin.lua gives the state its life).
--
-- Constants  REMEMBER_MS (life of a message record), STOP_CHANNEL,
--            LONGEST_INBOX (messages that wait), LONGEST_WITH_WORDS (with slash words, which are over at once),
--            MOST_OF_A_PERSON and MOST_OF_A_CHAT (messages a minute),
--            MOST_BEFORE_A_STOP (messages of a person in a minute; a stop word beyond them acts, but waits for no answer of its own)
-- keys  record: of the message   inbox   state   pending   personRate   chatRate: of groups only
--       personRate counts over all chats and lies elsewhere, but on a cluster, where it counts the chats of this partition (person-limit.ts)
-- args  deliveryId   conversationId   owner: person id   mergeKey: '-' = never merged
--       words: 'later' if it can be answered later, 'stop' if this is a stop word, 'word' if it is another slash word,
--         'again:' and when it was taken, ms, if it was acknowledged before, 'over' if too many of the person came in other chats
--       sealed: the message   opener: of a stop word in a thread: the delivery that began the thread, else ''
--       target: where to answer, sealed by itself, so that an apology reaches the person although the message does not open; '' where the platform polls
--       saidAtMs: by the platform's clock; '' where it does not tell   chatOrder: its place in the chat, '' where the platform gives none
-- Answers result: 'new' | 'limited' (refused, now or before, because too many came; a stop word has acted all the same) | 'repeat'
--         takenAtMs: if it waits (0 = it does not)
local record = redis.call('HMGET', keys.record, 'state', 'atMs', 'editedTo', 'editedMerge')
local known = record[1]
local isAgain = string.match(args.words, 'again:(%d+)')
-- After a failover nothing is known of what was posted, unless it stands there; post.lua reads this.
if isAgain and known ~= 'limited' then
  redis.call('HSET', keys.record, 'again', '1', 'againMs', redisNowMs())
  redis.call('HDEL', keys.record, 'polledAgain')
end
if known then
  return answer { result = known == 'limited' and known or 'repeat', takenAtMs = known == 'accepted' and tonumber(record[2]) or 0 }
end

-- Ages are judged by one clock, Redis' own, whoever stores, answers, polls or sweeps.
local nowMs = redisNowMs()
local isStop = string.find(args.words, 'stop', 1, true)
local recordPrefix = string.sub(keys.record, 1, #keys.record - #args.deliveryId)

-- One write for each message: every write of a script is also one in the append-only file.
local function count(key)
  return redis.call('SET', key, '1', 'PX', 60000, 'NX') and 1 or redis.call('INCR', key)
end

local ofPerson, waiting = count(keys.personRate), redis.call('LLEN', keys.inbox)
local isLimited = ofPerson > MOST_OF_A_PERSON or string.find(args.words, 'over', 1, true)
-- A private chat has one person, whose own limit is the lower one.
if keys.chatRate and count(keys.chatRate) > MOST_OF_A_CHAT then isLimited = true end
-- A stop word gets through whatever came and whatever waits: it is what ends a flood.
if isStop then isLimited = ofPerson > MOST_BEFORE_A_STOP end
local isWord = isStop or string.find(args.words, 'word', 1, true)
if waiting >= (isWord and LONGEST_WITH_WORDS or LONGEST_INBOX) then isLimited = true end

local function nextSeq() return redis.call('HINCRBY', keys.state, 'seq', 1) end
local function setStop(seq)
  redis.call('HSET', keys.state, 'stopSeq', seq, 'stopOwner', args.owner)
  redis.call('PUBLISH', STOP_CHANNEL, args.conversationId .. ':' .. seq .. ':' .. args.owner)
end
-- The answer that opens a thread belongs to a question of the chat, which is another conversation: the mark goes to that one message.
local function stopOpener()
  local opener = args.opener ~= '' and recordPrefix .. args.opener
  local asked = opener and redis.call('HMGET', opener, 'state', 'owner', 'conversation') or {}
  if asked[2] ~= args.owner or (asked[1] ~= 'accepted' and asked[1] ~= 'held') then return false end
  redis.call('HSET', opener, 'stopped', '1')
  redis.call('PUBLISH', STOP_CHANNEL, asked[3] .. ':0:' .. args.owner .. ':' .. args.opener)
  return true
end

-- What was acknowledged once stays so.
if isLimited and not isAgain then
  redis.call('HSET', keys.record, 'state', 'limited', 'owner', args.owner, 'atMs', nowMs)
  redis.call('PEXPIRE', keys.record, REMEMBER_MS)
  if isStop then
    -- Without a state nothing was asked here, and one that is made now would never go. What was said before something newer ends nothing.
    local saidMs = tonumber(args.saidAtMs or '') or nowMs
    if redis.call('EXISTS', keys.state) == 1 and saidMs >= tonumber(redis.call('HGET', keys.state, 'saidMs') or '0') then setStop(nextSeq()) end
    stopOpener()
  end
  return answer { result = 'limited' }
end

local takenMs = isAgain and math.min(tonumber(isAgain), nowMs) or nowMs
-- Messages that wait stand in the order of the chat, in whatever order their deliveries come; where the chat has none, a message that is
-- stored again takes its place by the time at which it was taken. A turn that has begun keeps its place in front. The entries behind the
-- new one get new sequence numbers, so that a stop ends what was said before it and nothing else.
local behind, isOvertaken = {}, false
local chatOrder = tonumber(args.chatOrder or '')
local function isLater(entry)
  local id, atMs = string.match(entry, '^(%x+):[^:]+:(%d+):')
  local order = chatOrder and id and tonumber(redis.call('HGET', recordPrefix .. id, 'chatOrder') or '')
  if order then return order > chatOrder end
  if isAgain then return tonumber(atMs or '0') > takenMs end
end
if waiting > 0 and (isAgain or chatOrder) then
  local state = redis.call('HMGET', keys.state, 'turn', 'size')
  local begun = state[1] and tonumber(state[2] or '0') or 0
  for _, entry in ipairs(isAgain and begun > 0 and redis.call('LRANGE', keys.inbox, 0, begun - 1) or {}) do
    isOvertaken = isOvertaken or isLater(entry)
  end
  local entries = redis.call('LRANGE', keys.inbox, begun, -1)
  local first = #entries + 1
  for index = #entries, 1, -1 do
    local later = isLater(entries[index])
    if later then first = index end
    -- What waits is in order already.
    if later == false and not isAgain then break end
  end
  for index = first, #entries do behind[#behind + 1] = entries[index] end
  for _ = 1, #behind do redis.call('RPOP', keys.inbox) end
end
-- What a receiver sent while Redis stood still is carried out late, although its delivery was refused; a stop among it means what was said before it.
local saidMs = not isAgain and tonumber(args.saidAtMs or '')
if saidMs then
  if saidMs < tonumber(redis.call('HGET', keys.state, 'saidMs') or '0') then isOvertaken = true
  else redis.call('HSET', keys.state, 'saidMs', saidMs) end
end
local seq = nextSeq()
-- It may have been answered, by itself or with others: it is a turn of its own, whichever version reads it.
local merge = isAgain and '-' or record[4] or args.mergeKey
-- It was edited before it came (amend.lua).
if record[3] then redis.call('HDEL', keys.record, 'editedTo', 'editedMerge') end
redis.call('RPUSH', keys.inbox, args.deliveryId .. ':' .. merge .. ':' .. takenMs .. ':' .. seq .. ':' .. (record[3] or args.sealed))
local stops = #behind > 0 and redis.call('HMGET', keys.state, 'stopSeq', 'stopServed') or {}
for _, entry in ipairs(behind) do
  local start, old, rest = string.match(entry, '^(%x+:[^:]+:%d+:)(%d+)(:.*)$')
  local new = nextSeq()
  redis.call('RPUSH', keys.inbox, start and start .. new .. rest or entry)
  if old and old == stops[1] then redis.call('HSET', keys.state, 'stopSeq', new) end
  if old and old == stops[2] then redis.call('HSET', keys.state, 'stopServed', new) end
end
redis.call('HSET', keys.record, 'state', 'accepted', 'conversation', args.conversationId, 'owner', args.owner, 'atMs', takenMs, 'history', redisHistory())
if args.target ~= '' then redis.call('HSET', keys.record, 'target', args.target) end
if chatOrder then redis.call('HSET', keys.record, 'chatOrder', args.chatOrder) end
if string.find(args.words, 'later', 1, true) then redis.call('HSET', keys.record, 'later', '1') end
redis.call('PEXPIRE', keys.record, REMEMBER_MS)
redis.call('ZADD', keys.pending, 'NX', nowMs, args.conversationId)
if isStop then
  -- A turn that runs although it was said later is not meant; of two stops the one that was said last counts.
  if not isOvertaken and seq >= tonumber(redis.call('HGET', keys.state, 'stopSeq') or '0') then setStop(seq) end
  if stopOpener() then redis.call('HSET', keys.state, 'stopServed', seq) end
end
return answer { result = 'new', takenAtMs = takenMs }
