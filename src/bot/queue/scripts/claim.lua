-- Takes the next epoch of a conversation, so that every older worker is refused, and returns the turn to run: the unfinished one, or a new
-- one from the head of the inbox (the first message, and those behind it that merge with it: same sender, same `mergeKeyOf` in inbox-entry.ts).
-- Nothing leaves the inbox here.
-- Safe to repeat with the same claim (SECURITY.md repeatable-scripts): neither the epoch nor a crash is counted twice.
-- A claim that its worker still renews is left alone, so that a late or duplicate wake takes nothing from it.
--
-- Constants  STATE_LIFE_MS (life of a conversation's state after its last turn)
--            CLAIM_LIFE_MS (a claim that was not renewed for this long may be taken)
--            MAX_CLAIMS_BYTES (of the claims that a record lists; the oldest are left out)
--            MAX_HELD_COUNTED (above this number of held messages their owners are not checked)
-- Keys       state   inbox   pending   held   history   notices   summary   leftovers
-- Arguments  conversationId   maxMessages: per turn   maxTurns: of history   messagePrefix: of message keys
--            claim: name of this claim, so that a command that the connection resends is recognised; the part before the dot is the worker's name
--            maxHistoryBytes
--            epochStep: random increment of the epoch: a failover may lose the newest epoch, and the next one must differ from the one
--              that a worker still holds
--            preferencesPrefix: of preferences keys   preferencesLifeMs: renewed with each turn of the person
--            wokenMs: when the wake was sent, by the sender's clock; '' without a wake
--            keyIds: keys of this worker; messages encrypted with another key are left unclaimed
-- Returns    verdict: 'nothing' (waits) | 'claimed' (by a live worker) | 'lacks-key', with lackedKeyId and no epoch taken |
--            'begun', with the rest:
--            epoch   turnId   crashes   crashedWorker: whose crash was counted by this claim   storedAnswer   stopSeq   stopOwner   stopServed: the stop that was answered
--            heldCount: how many older messages of the sender are held (where very many are, all) or wait behind an unfinished turn   startedAtMs: when the answered message came
--            wasHandedOver: its live reply   entries   history   notices   wasBegun: a worker had begun this turn before
--            preferences: what the sender chose: field, sealed, …   wasStopped: one of its messages, by itself
--            redisNowMs: now by the clock by which `entries` and the answered message were stamped
--            summary: '' = none   historyLength: turns of history that are kept   target: where to answer (sealed; '' where the platform polls)
--            dueForMs: how long the turn was due until now   leftovers: oldest first
--            mayBeAnswered: a failover may have lost the record of an answer   behind: if so, the entries behind it, one of which may have been answered together with it
--            excusedUntilMs: end of the wait behind a turn that crashed or was isolated, which does not count as age; 0 = no such wait
--            wasHeldInGroup: it waited in a group for its sender's sign-in
local fields = {'claim', 'epoch', 'turn', 'size', 'running', 'crashes', 'answer', 'stopSeq', 'stopOwner', 'stopServed',
  'aliveMs', 'dueMs', 'amended', 'isolated', 'excusedMs', 'takenFrom', 'claims', 'did'}
local state = {}
for index, value in ipairs(redis.call('HMGET', keys.state, unpack(fields))) do state[fields[index]] = value end
local function count(field) return tonumber(state[field] or '0') end

local nowMs = redisNowMs()
local isRepeat = state.claim == args.claim
-- If the clock was set back, the age is negative and says nothing, and the claim may be taken.
local unrenewedMs = nowMs - count('aliveMs')
if not isRepeat and unrenewedMs >= 0 and unrenewedMs < CLAIM_LIFE_MS then return answer { verdict = 'claimed' } end
local epoch = isRepeat and count('epoch') or count('epoch') + tonumber(args.epochStep)
local head = {}
for index, text in ipairs(redis.call('LRANGE', keys.inbox, 0, tonumber(args.maxMessages) - 1)) do head[index] = readEntry(text) end

local today
local function isOfAnotherHistory(stored)
  if not stored or stored == '' then return false end
  today = today or redisHistory()
  return today ~= '' and today ~= stored
end

-- The list's newest values, oldest first: at most `most`, and at most `maxBytes` except for the newest value alone. Also
-- returns the length of the list, which is queried only if there may be more.
local function newest(key, most, maxBytes)
  local found, bytes = {}, 0
  for from = 1, most, 10 do
    local some = redis.call('LRANGE', key, -(from + 9), -from)
    for index = #some, 1, -1 do
      bytes = bytes + #some[index]
      if #found == most or (#found > 0 and bytes > maxBytes) then return found, redis.call('LLEN', key) end
      table.insert(found, 1, some[index])
    end
    if #some < 10 then return found, #found end
  end
  return found, redis.call('LLEN', key)
end

if #head == 0 then
  redis.call('ZREM', keys.pending, args.conversationId)
  redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'amended', 'isolated', 'excusedMs', 'claims', 'did')
  return answer { verdict = 'nothing' }
end
redis.call('ZADD', keys.pending, nowMs, args.conversationId)

local turn, size, crashes, crashedWorker, storedAnswer = state.turn, count('size'), count('crashes'), '', state.answer
local isLeftOver = turn and size >= 1 and head[size] and head[size].id == turn
for index = 1, isLeftOver and size or 1 do
  local lackedKeyId = lackedKeyOf(head[index], args.keyIds)
  if lackedKeyId then return answer { verdict = 'lacks-key', lackedKeyId = lackedKeyId } end
end
-- An answer that was stored before its question changed is not the answer.
if state.amended then
  -- guard: taken-back/stored-answer
  storedAnswer = ''
  redis.call('HDEL', keys.state, 'answer', 'amended')
end
-- guard: never-joined/unfinished-turn
if isLeftOver then
  -- An orderly stop clears `running`; a turn found running has probably lost its worker in a crash. A worker that takes its
  -- own turn again has not crashed.
  if not isRepeat and state.running == '1' and (not workerOf(state.claim) or workerOf(state.claim) ~= workerOf(args.claim)) then
    -- guard: poison-turns/counts-crash
    crashes = crashes + 1
    crashedWorker = workerOf(state.claim) or ''
    -- The worker may be alive after all, and then retracts the crash (not-crashed.lua).
    if state.claim then redis.call('HSET', keys.state, 'takenFrom', state.claim) end
  end
  -- Questions behind this turn do not age by the time that it lost in a crash or waited in isolation.
  if state.isolated or crashes > count('crashes') then
    state.excusedMs = nowMs
    redis.call('HDEL', keys.state, 'isolated')
    redis.call('HSET', keys.state, 'excusedMs', nowMs)
  end
else
  local mergeKey = head[1].mergeKey
  -- A stop that gets no reply separates the messages that it ends from later ones.
  local function isBeforeStop(entry) return (entry.seq or 0) < count('stopSeq') end
  local function mayMerge(entry)
    return entry and mergeKey ~= '-' and entry.mergeKey == mergeKey and not lackedKeyOf(entry, args.keyIds)
      and isBeforeStop(entry) == isBeforeStop(head[1])
  end
  -- A message stored under another history may have been answered there, alone or with others.
  local function isKnownWhole(entry)
    local record = redis.call('HMGET', args.messagePrefix .. entry.id, 'history', 'again')
    return not record[2] and not isOfAnotherHistory(record[1])
  end
  size = 1
  while mayMerge(head[size + 1]) and (size > 1 or isKnownWhole(head[1])) and isKnownWhole(head[size + 1]) do size = size + 1 end
  turn = head[size].id
  crashes, storedAnswer = 0, ''
  if state.answer or state.takenFrom then redis.call('HDEL', keys.state, 'answer', 'takenFrom') end
end
local record = redis.call('HMGET', args.messagePrefix .. turn, 'atMs', 'handedOver', 'owner', 'stopped', 'target', 'history', 'again', 'heldIn', 'claims', 'did')
-- The trace of a turn (turn-trace.ts): its claims, each followed by what its worker did as far as it is known. Kept in the state
-- while the turn runs, and written into its record by the commit.
local claims = isLeftOver and state.claims or record[9] or ''
if not isRepeat then
  local epochBefore, did = string.match(claims, '.*|(%d+)'), ''
  for _, known in ipairs({state.did or '', record[10] or ''}) do
    if #known > #did and string.match(known, '^%d+') == epochBefore then did = known end
  end
  if did ~= '' then claims = claims .. '~' .. did end
  if #claims > MAX_CLAIMS_BYTES then claims = string.match(claims, '|.*', -MAX_CLAIMS_BYTES / 2) or '' end
  claims = claims .. '|' .. table.concat({epoch, nowMs, crashes, workerOf(args.claim) or '', args.wokenMs}, ',')
end
redis.call('HSET', keys.state, 'claim', args.claim, 'aliveMs', nowMs, 'epoch', epoch, 'turn', turn, 'size', size, 'running', '1',
  'crashes', crashes, 'claims', claims)
redis.call('PEXPIRE', keys.state, STATE_LIFE_MS)

local entries, isStopped = {}, false
for index = 1, size do
  entries[index] = head[index].text
  local id = head[index].id
  -- guard: no-second-beginning/stopped-message
  if id ~= turn and redis.call('HEXISTS', args.messagePrefix .. id, 'stopped') == 1 then isStopped = true end
end
-- Redis has another history than when the message was stored: posts that are not recorded may exist, and are looked up first
-- (post.lua reads the mark).
local isDoubtful = record[7] or isOfAnotherHistory(record[6])
if isDoubtful and not record[7] then redis.call('HSET', args.messagePrefix .. turn, 'again', '1', 'againMs', nowMs) end
local behind = {}
if isDoubtful then
  for index = size + 1, #head do behind[#behind + 1] = head[index].text end
end
-- Most conversations have none of these, and each command costs as much as asking for all.
local hasAny = redis.call('EXISTS', keys.held, keys.notices, keys.summary, keys.leftovers) > 0
-- In a group several people may wait for sign-in, each with a separate limit.
local function heldCount()
  if not hasAny then return 0 end
  local all = redis.call('LLEN', keys.held)
  if all == 0 or all > MAX_HELD_COUNTED then return all end
  local own = 0
  for _, entry in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
    local owner = redis.call('HGET', args.messagePrefix .. readEntry(entry).id, 'owner')
    if not owner or owner == record[3] then own = own + 1 end
  end
  return own
end
-- A release puts older messages of the sender behind an open turn, which has crashed since.
local function overtakenCount()
  if not isLeftOver then return 0 end
  local own = 0
  for index = size + 1, #head do
    local isOlder = head[index].seq and head[index].seq < (head[1].seq or 0)
    -- guard: in-order/overtaken-by-crash
    if isOlder and redis.call('HGET', args.messagePrefix .. head[index].id, 'owner') == record[3] then own = own + 1 end
  end
  return own
end
local preferences = record[3] and redis.call('HGETALL', args.preferencesPrefix .. record[3]) or {}
if #preferences > 0 then redis.call('PEXPIRE', args.preferencesPrefix .. record[3], args.preferencesLifeMs) end
local history, kept = newest(keys.history, tonumber(args.maxTurns), tonumber(args.maxHistoryBytes))
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
  heldCount = heldCount() + overtakenCount(),
  startedAtMs = tonumber(record[1] or nowMs),
  wasHandedOver = record[2],
  entries = entries,
  history = history,
  notices = hasAny and redis.call('LRANGE', keys.notices, 0, -1) or {},
  wasBegun = isLeftOver,
  preferences = preferences,
  wasStopped = isStopped or record[4],
  redisNowMs = nowMs,
  summary = hasAny and redis.call('GET', keys.summary),
  historyLength = kept,
  target = record[5],
  dueForMs = nowMs - math.max(head[1].takenMs or nowMs, count('dueMs')),
  leftovers = hasAny and redis.call('LRANGE', keys.leftovers, 0, -1) or {},
  mayBeAnswered = isDoubtful,
  behind = behind,
  excusedUntilMs = count('excusedMs'),
  wasHeldInGroup = record[8] == 'group',
}
