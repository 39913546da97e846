-- Takes the next epoch of a conversation (from now on every older worker is refused) and says which turn to run:
-- the one that was left unfinished, or a new one from the inbox's head: its first message, and those behind it that merge with it
-- (same sender, same `mergeKeyOf`: inbox-entry.ts). Nothing leaves the inbox here.
-- Safe to repeat with the same claim (SECURITY.md repeatable-scripts): then neither the epoch nor a crash is counted again.
-- A claim that its worker still renews is left alone: a wake that came late, or by another way, takes nothing from it.
--
-- Constants  STATE_LIFE_MS (how long what a conversation keeps of its turns outlives the last one)
--            CLAIM_LIFE_MS (a claim that nobody renewed for so long may be taken)
--            MOST_HELD_COUNTED (of more held messages it is not asked whose they are)
-- keys  state   inbox   pending   held   history   notices   summary   leftovers
-- args  conversationId   mostMessages: of one turn   mostTurns: of history wanted   messagePrefix: of message keys
--       claim: a name for this taking, so that one that the connection sends again is known; up to its dot the worker's name
--       mostHistoryBytes
--       epochStep: how far the epoch goes on: by chance, since a failover may lose the newest epoch, and then the next one must not
--         be the one that a worker still holds
--       preferencesPrefix: of preferences keys   preferencesLifeMs: they live on with each turn of their person
--       keyIds: of the keys that this worker has: what another key sealed is left as it is, unclaimed
-- Answers verdict: 'nothing' (waits) | 'claimed' (by a worker that is alive) | 'lacks-key', with lackedKeyId and no epoch taken |
--         'begun', with the rest:
--         epoch   turnId   crashes   crashedWorker: whose crash was counted by this claim   storedAnswer   stopSeq   stopOwner   stopServed: the stop that was
--         heldCount: how many messages of the sender are held (where very many are, all)   startedAtMs: when the answered message came
--         wasHandedOver: its live reply   entries   history   notices   wasBegun: a worker had begun this turn before
--         preferences: what the sender chose: field, sealed, …   wasStopped: one of its messages, by itself
--         redisNowMs: now by the clock by which `entries` and the answered message were stamped
--         summary: '' = none   historyLength: turns of history that are kept   target: where to answer (sealed; '' where the platform polls)
--         dueForMs: how long the turn was due until now   leftovers: oldest first
--         mayBeAnswered: under a history of Redis that is lost   behind: entries that wait behind it, if so: it may have been answered with one of them
--         wasHeldInGroup: it waited in a group for its sender's sign-in
local fields = {'claim', 'epoch', 'turn', 'size', 'running', 'crashes', 'answer', 'stopSeq', 'stopOwner', 'stopServed',
  'aliveMs', 'dueMs', 'amended'}
local state = {}
for index, value in ipairs(redis.call('HMGET', keys.state, unpack(fields))) do state[fields[index]] = value end
local function count(field) return tonumber(state[field] or '0') end

local nowMs = redisNowMs()
local isRepeat = state.claim == args.claim
-- A clock that was set back says nothing about when a claim was renewed.
local unrenewedMs = nowMs - count('aliveMs')
if not isRepeat and unrenewedMs >= 0 and unrenewedMs < CLAIM_LIFE_MS then return answer { verdict = 'claimed' } end
local epoch = isRepeat and count('epoch') or count('epoch') + tonumber(args.epochStep)
local head = redis.call('LRANGE', keys.inbox, 0, tonumber(args.mostMessages) - 1)

local function partsOf(entry)
  local id, merge = string.match(entry, '^(%x+):([^:]+):')
  return id, merge
end
local function lackedKey(entry)
  local keyId = string.match(entry, '^%x+:[^:]+:%d+:%d+:s1%.(%x+)%.')
  return keyId and not string.find(args.keyIds, keyId, 1, true) and keyId
end

local today
local function isOfAnotherHistory(stored)
  if not stored or stored == '' then return false end
  today = today or redisHistory()
  return today ~= '' and today ~= stored
end

-- The list's newest values, oldest first: at most so many, and no more bytes than told but for the newest one; and how many
-- the list has, which is asked only where there may be more.
local function newest(key, most, mostBytes)
  local found, bytes = {}, 0
  for from = 1, most, 10 do
    local some = redis.call('LRANGE', key, -(from + 9), -from)
    for index = #some, 1, -1 do
      bytes = bytes + #some[index]
      if #found == most or (#found > 0 and bytes > mostBytes) then return found, redis.call('LLEN', key) end
      table.insert(found, 1, some[index])
    end
    if #some < 10 then return found, #found end
  end
  return found, redis.call('LLEN', key)
end

if #head == 0 then
  redis.call('ZREM', keys.pending, args.conversationId)
  redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'amended')
  return answer { verdict = 'nothing' }
end
redis.call('ZADD', keys.pending, nowMs, args.conversationId)

local turn, size, crashes, crashedWorker, storedAnswer = state.turn, count('size'), count('crashes'), '', state.answer
local isLeftOver = turn and size >= 1 and head[size] and partsOf(head[size]) == turn
for index = 1, isLeftOver and size or 1 do
  if lackedKey(head[index]) then return answer { verdict = 'lacks-key', lackedKeyId = lackedKey(head[index]) } end
end
-- What was answered before its question changed is not the answer.
if state.amended then
  storedAnswer = ''
  redis.call('HDEL', keys.state, 'answer', 'amended')
end
if isLeftOver then
  -- An orderly stop clears `running`; a turn that is found running lost its worker, by a crash as it seems. A worker that
  -- takes its own turn once more has not crashed.
  local function workerOf(claim) return string.match(claim or '', '^([^.]*)%.') end
  if not isRepeat and state.running == '1' and (not workerOf(state.claim) or workerOf(state.claim) ~= workerOf(args.claim)) then
    crashes = crashes + 1
    crashedWorker = workerOf(state.claim) or ''
    -- The worker may be alive after all, and then takes the crash back (not-crashed.lua).
    if state.claim then redis.call('HSET', keys.state, 'takenFrom', state.claim) end
  end
else
  local _, merge = partsOf(head[1])
  -- A stop that waits for no answer of its own stands between what it ends and what was said after it.
  local function isBeforeStop(entry)
    return tonumber(string.match(entry, '^%x+:[^:]+:%d+:(%d+):') or '0') < count('stopSeq')
  end
  local function mayMerge(entry)
    return entry and merge ~= '-' and select(2, partsOf(entry)) == merge and not lackedKey(entry) and isBeforeStop(entry) == isBeforeStop(head[1])
  end
  -- What was stored under another history may have been answered there, by itself or with others.
  local function isKnownWhole(entry)
    local record = redis.call('HMGET', args.messagePrefix .. partsOf(entry), 'history', 'again')
    return not record[2] and not isOfAnotherHistory(record[1])
  end
  size = 1
  while mayMerge(head[size + 1]) and (size > 1 or isKnownWhole(head[1])) and isKnownWhole(head[size + 1]) do size = size + 1 end
  turn = partsOf(head[size])
  crashes, storedAnswer = 0, ''
  redis.call('HDEL', keys.state, 'answer', 'takenFrom')
end
redis.call('HSET', keys.state, 'claim', args.claim, 'aliveMs', nowMs, 'epoch', epoch, 'turn', turn, 'size', size, 'running', '1',
  'crashes', crashes)
redis.call('PEXPIRE', keys.state, STATE_LIFE_MS)

local entries, isStopped = {}, false
for index = 1, size do
  entries[index] = head[index]
  local id = partsOf(head[index])
  if id ~= turn and redis.call('HEXISTS', args.messagePrefix .. id, 'stopped') == 1 then isStopped = true end
end
local record = redis.call('HMGET', args.messagePrefix .. turn, 'atMs', 'handedOver', 'owner', 'stopped', 'target', 'history', 'again', 'heldIn')
-- Redis' history is another one than that in which the message was stored: what is not known to have been posted may have
-- been, and is looked up first (post.lua reads the mark).
local isDoubtful = record[7] or isOfAnotherHistory(record[6])
if isDoubtful and not record[7] then redis.call('HSET', args.messagePrefix .. turn, 'again', '1', 'againMs', nowMs) end
local behind = {}
if isDoubtful then
  for index = size + 1, #head do behind[#behind + 1] = head[index] end
end
-- In a group several people may wait for their sign-in, and each has a share of their own.
local function heldCount()
  local all = redis.call('LLEN', keys.held)
  if all == 0 or all > MOST_HELD_COUNTED then return all end
  local own = 0
  for _, entry in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
    local owner = redis.call('HGET', args.messagePrefix .. partsOf(entry), 'owner')
    if not owner or owner == record[3] then own = own + 1 end
  end
  return own
end
local preferences = record[3] and redis.call('HGETALL', args.preferencesPrefix .. record[3]) or {}
if #preferences > 0 then redis.call('PEXPIRE', args.preferencesPrefix .. record[3], args.preferencesLifeMs) end
local history, kept = newest(keys.history, tonumber(args.mostTurns), tonumber(args.mostHistoryBytes))
return answer {
  verdict = 'begun',
  epoch = epoch,
  turnId = turn,
  crashes = crashes,
  crashedWorker = crashedWorker,
  storedAnswer = storedAnswer,
  stopSeq = count('stopSeq'),
  stopOwner = state.stopOwner,
  stopServed = count('stopServed'),
  heldCount = heldCount(),
  startedAtMs = tonumber(record[1] or nowMs),
  wasHandedOver = record[2],
  entries = entries,
  history = history,
  notices = redis.call('LRANGE', keys.notices, 0, -1),
  wasBegun = isLeftOver,
  preferences = preferences,
  wasStopped = isStopped or record[4],
  redisNowMs = nowMs,
  summary = redis.call('GET', keys.summary),
  historyLength = kept,
  target = record[5],
  dueForMs = nowMs - math.max(tonumber(string.match(head[1], '^%x+:[^:]+:(%d+):') or nowMs), count('dueMs')),
  leftovers = redis.call('LRANGE', keys.leftovers, 0, -1),
  mayBeAnswered = isDoubtful,
  behind = behind,
  wasHeldInGroup = record[8] == 'group',
}
