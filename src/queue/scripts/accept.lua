-- Stores one message, once: remembers its delivery, appends it to the inbox, marks the conversation pending.
-- Safe to repeat: a known delivery changes nothing.
--
-- Inbox and state get no life here: what waits must not vanish, however long no worker comes (begin.lua gives the state its life).
--
-- Constants  REMEMBER_MS (life of a message record), STOP_CHANNEL,
--            LONGEST_INBOX (messages that wait), LONGEST_WITH_WORDS (with slash words, which are over at once),
--            MOST_OF_A_PERSON and MOST_OF_A_CHAT (messages a minute),
--            MOST_BEFORE_A_STOP (messages of a person in a minute; a stop word beyond them acts, but waits for no answer of its own)
-- KEYS  1 message record   2 inbox   3 state   4 pending   5 the person's rate   6 the chat's rate (groups only)
--       5 counts over all chats and lies elsewhere, but on a cluster, where it counts the chats of this partition (person-limit.ts)
-- ARGV  1 delivery id   2 conversation id   3 owner (person id)   4 merge key ('-' = never merged)
--       5 words: 'later' if it can be answered later, 'stop' if this is a stop word, 'word' if it is another slash word,
--         'again:' and when it was taken, ms, if it was acknowledged before, 'over' if too many of the person came in other chats
--       6 sealed message   7 of a stop word in a thread: the delivery that began the thread, else ''
--       8 where to answer, sealed by itself, so that an apology reaches the person although the message does not open; '' where the platform polls
--       9 when it was said by the platform's clock, ms; '' where it does not tell
-- Returns {'new' | 'limited' (refused, now or before, because too many came; a stop word has acted all the same) | 'repeat',
--         when it was taken if it waits, ms (0 = it does not)}
local record = redis.call('HMGET', KEYS[1], 'state', 'atMs')
local known = record[1]
local isAgain = string.match(ARGV[5], 'again:(%d+)')
-- After a failover nothing is known of what was posted, unless it stands there; post.lua reads this.
if isAgain and known ~= 'limited' then
  redis.call('HSET', KEYS[1], 'again', '1', 'againMs', redisNowMs())
  redis.call('HDEL', KEYS[1], 'polledAgain')
end
if known then return {known == 'limited' and known or 'repeat', known == 'accepted' and tonumber(record[2]) or 0} end

local conversation, owner = ARGV[2], ARGV[3]
-- Ages are judged by one clock, Redis' own, whoever stores, answers, polls or sweeps.
local nowMs = redisNowMs()
local isStop = string.find(ARGV[5], 'stop', 1, true)

-- One write for each message: every write of a script is also one in the append-only file.
local function count(key)
  return redis.call('SET', key, '1', 'PX', 60000, 'NX') and 1 or redis.call('INCR', key)
end

local ofPerson, waiting = count(KEYS[5]), redis.call('LLEN', KEYS[2])
local isLimited = ofPerson > MOST_OF_A_PERSON or string.find(ARGV[5], 'over', 1, true)
-- A private chat has one person, whose own limit is the lower one.
if KEYS[6] and count(KEYS[6]) > MOST_OF_A_CHAT then isLimited = true end
-- A stop word gets through whatever came and whatever waits: it is what ends a flood.
if isStop then isLimited = ofPerson > MOST_BEFORE_A_STOP end
local isWord = isStop or string.find(ARGV[5], 'word', 1, true)
if waiting >= (isWord and LONGEST_WITH_WORDS or LONGEST_INBOX) then isLimited = true end

local function nextSeq() return redis.call('HINCRBY', KEYS[3], 'seq', 1) end
local function setStop(seq)
  redis.call('HSET', KEYS[3], 'stopSeq', seq, 'stopOwner', owner)
  redis.call('PUBLISH', STOP_CHANNEL, conversation .. ':' .. seq .. ':' .. owner)
end
-- The answer that opens a thread belongs to a question of the chat, which is another conversation: the mark goes to that one message.
local function stopOpener()
  local opener = ARGV[7] ~= '' and string.sub(KEYS[1], 1, #KEYS[1] - #ARGV[1]) .. ARGV[7]
  local asked = opener and redis.call('HMGET', opener, 'state', 'owner', 'conversation') or {}
  if asked[2] ~= owner or (asked[1] ~= 'accepted' and asked[1] ~= 'held') then return false end
  redis.call('HSET', opener, 'stopped', '1')
  redis.call('PUBLISH', STOP_CHANNEL, asked[3] .. ':0:' .. owner .. ':' .. ARGV[7])
  return true
end

-- What was acknowledged once stays so.
if isLimited and not isAgain then
  redis.call('HSET', KEYS[1], 'state', 'limited', 'owner', owner, 'atMs', nowMs)
  redis.call('PEXPIRE', KEYS[1], REMEMBER_MS)
  if isStop then
    -- Without a state nothing was asked here, and one that is made now would never go. What was said before something newer ends nothing.
    local saidMs = tonumber(ARGV[9] or '') or nowMs
    if redis.call('EXISTS', KEYS[3]) == 1 and saidMs >= tonumber(redis.call('HGET', KEYS[3], 'saidMs') or '0') then setStop(nextSeq()) end
    stopOpener()
  end
  return {'limited', 0}
end

local takenMs = isAgain and math.min(tonumber(isAgain), nowMs) or nowMs
-- What is stored again takes its place by the time at which it was taken, whoever stores it and whatever waits by now; a turn that
-- has begun keeps its place in front. What stands behind it is counted anew, so that a stop ends what was said before it and nothing else.
local behind, isOvertaken = {}, false
if isAgain then
  local state = redis.call('HMGET', KEYS[3], 'turn', 'size')
  local begun = state[1] and tonumber(state[2] or '0') or 0
  for index, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
    local isLater = tonumber(string.match(entry, '^%x+:[^:]+:(%d+):') or '0') > takenMs
    if isLater and index <= begun then isOvertaken = true end
    if index > begun and (isLater or #behind > 0) then behind[#behind + 1] = entry end
  end
  for _ = 1, #behind do redis.call('RPOP', KEYS[2]) end
end
-- What a receiver sent while Redis stood still is carried out late, although its delivery was refused; a stop among it means what was said before it.
local saidMs = not isAgain and tonumber(ARGV[9] or '')
if saidMs then
  if saidMs < tonumber(redis.call('HGET', KEYS[3], 'saidMs') or '0') then isOvertaken = true
  else redis.call('HSET', KEYS[3], 'saidMs', saidMs) end
end
local seq = nextSeq()
-- It may have been answered, by itself or with others: it is a turn of its own, whichever version reads it.
local merge = isAgain and '-' or ARGV[4]
redis.call('RPUSH', KEYS[2], ARGV[1] .. ':' .. merge .. ':' .. takenMs .. ':' .. seq .. ':' .. ARGV[6])
local stopSeq = #behind > 0 and redis.call('HGET', KEYS[3], 'stopSeq')
for _, entry in ipairs(behind) do
  local start, old, rest = string.match(entry, '^(%x+:[^:]+:%d+:)(%d+)(:.*)$')
  local new = nextSeq()
  redis.call('RPUSH', KEYS[2], start and start .. new .. rest or entry)
  if old == stopSeq then redis.call('HSET', KEYS[3], 'stopSeq', new) end
end
redis.call('HSET', KEYS[1], 'state', 'accepted', 'conversation', conversation, 'owner', owner, 'atMs', takenMs, 'history', redisHistory())
if ARGV[8] ~= '' then redis.call('HSET', KEYS[1], 'target', ARGV[8]) end
if string.find(ARGV[5], 'later', 1, true) then redis.call('HSET', KEYS[1], 'later', '1') end
redis.call('PEXPIRE', KEYS[1], REMEMBER_MS)
redis.call('ZADD', KEYS[4], 'NX', nowMs, conversation)
if isStop then
  -- A turn that runs although it was said later is not meant; of two stops the one that was said last counts.
  if not isOvertaken and seq >= tonumber(redis.call('HGET', KEYS[3], 'stopSeq') or '0') then setStop(seq) end
  if stopOpener() then redis.call('HSET', KEYS[3], 'stopServed', seq) end
end
return {'new', takenMs}
