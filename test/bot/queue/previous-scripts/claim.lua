-- claim.lua
local STATE_LIFE_MS = 604800000
local CLAIM_LIFE_MS = 9000
local MAX_HELD_COUNTED = 200
local args_keyIds = {unpack(ARGV, 11)}
local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function redisHistory()
  local told = redis.pcall('INFO', 'replication')
  return type(told) == 'string' and string.match(told, 'master_replid:(%w+)') or ''
end
local function answer(of) return {of.verdict or false, of.lackedKeyId or false, of.epoch or false, of.turnId or false, of.crashes or false, of.crashedWorker or false, of.storedAnswer or false, of.stopSeq or false, of.stopOwner or false, of.stopServed or false, of.heldCount or false, of.startedAtMs or false, of.wasHandedOver or false, of.entries or false, of.history or false, of.notices or false, of.wasBegun or false, of.preferences or false, of.wasStopped or false, of.redisNowMs or false, of.summary or false, of.historyLength or false, of.target or false, of.dueForMs or false, of.leftovers or false, of.mayBeAnswered or false, of.behind or false, of.excusedUntilMs or false, of.wasHeldInGroup or false} end
local function readEntry(text)
  local id, mergeKey, takenMs, seq, sealedAt = string.match(text, '^(%x+):([^:]+):(%d+):(%d+):()')
  if not id then id, mergeKey = string.match(text, '^(%x+):([^:]+):') end
  local entry = {
    text = text, id = id, mergeKey = mergeKey, takenMs = takenMs and tonumber(takenMs), seq = seq and tonumber(seq), sealedAt = sealedAt,
  }
  return entry
end
local function writeEntry(id, mergeKey, takenMs, seq, sealed)
  return id .. ':' .. mergeKey .. ':' .. takenMs .. ':' .. seq .. ':' .. sealed
end
local function sealedOf(entry) return string.sub(entry.text, entry.sealedAt) end
local function lackedKeyOf(entry, keyIds)
  local keyId = entry.sealedAt and string.match(entry.text, '^s1%.(%x+)%.', entry.sealedAt)
  if not keyId then return nil end
  for _, known in ipairs(keyIds) do
    if known == keyId then return nil end
  end
  return keyId
end
local function workerOf(claim) return claim and string.match(claim, '^([^.]*)%.') end
local fields = {'claim', 'epoch', 'turn', 'size', 'running', 'crashes', 'answer', 'stopSeq', 'stopOwner', 'stopServed',
  'aliveMs', 'dueMs', 'amended', 'isolated', 'excusedMs'}
local state = {}
for index, value in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do state[fields[index]] = value end
local function count(field) return tonumber(state[field] or '0') end
local nowMs = redisNowMs()
local isRepeat = state.claim == ARGV[5]
local unrenewedMs = nowMs - count('aliveMs')
if not isRepeat and unrenewedMs >= 0 and unrenewedMs < CLAIM_LIFE_MS then return answer { verdict = 'claimed' } end
local epoch = isRepeat and count('epoch') or count('epoch') + tonumber(ARGV[7])
local head = {}
for index, text in ipairs(redis.call('LRANGE', KEYS[2], 0, tonumber(ARGV[2]) - 1)) do head[index] = readEntry(text) end
local today
local function isOfAnotherHistory(stored)
  if not stored or stored == '' then return false end
  today = today or redisHistory()
  return today ~= '' and today ~= stored
end
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
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('HDEL', KEYS[1], 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'amended', 'isolated', 'excusedMs')
  return answer { verdict = 'nothing' }
end
redis.call('ZADD', KEYS[3], nowMs, ARGV[1])
local turn, size, crashes, crashedWorker, storedAnswer = state.turn, count('size'), count('crashes'), '', state.answer
local isLeftOver = turn and size >= 1 and head[size] and head[size].id == turn
for index = 1, isLeftOver and size or 1 do
  local lackedKeyId = lackedKeyOf(head[index], args_keyIds)
  if lackedKeyId then return answer { verdict = 'lacks-key', lackedKeyId = lackedKeyId } end
end
if state.amended then
  storedAnswer = ''
  redis.call('HDEL', KEYS[1], 'answer', 'amended')
end
if isLeftOver then
  if not isRepeat and state.running == '1' and (not workerOf(state.claim) or workerOf(state.claim) ~= workerOf(ARGV[5])) then
    crashes = crashes + 1
    crashedWorker = workerOf(state.claim) or ''
    if state.claim then redis.call('HSET', KEYS[1], 'takenFrom', state.claim) end
  end
  if state.isolated or crashes > count('crashes') then
    state.excusedMs = nowMs
    redis.call('HDEL', KEYS[1], 'isolated')
    redis.call('HSET', KEYS[1], 'excusedMs', nowMs)
  end
else
  local mergeKey = head[1].mergeKey
  local function isBeforeStop(entry) return (entry.seq or 0) < count('stopSeq') end
  local function mayMerge(entry)
    return entry and mergeKey ~= '-' and entry.mergeKey == mergeKey and not lackedKeyOf(entry, args_keyIds)
      and isBeforeStop(entry) == isBeforeStop(head[1])
  end
  local function isKnownWhole(entry)
    local record = redis.call('HMGET', ARGV[4] .. entry.id, 'history', 'again')
    return not record[2] and not isOfAnotherHistory(record[1])
  end
  size = 1
  while mayMerge(head[size + 1]) and (size > 1 or isKnownWhole(head[1])) and isKnownWhole(head[size + 1]) do size = size + 1 end
  turn = head[size].id
  crashes, storedAnswer = 0, ''
  redis.call('HDEL', KEYS[1], 'answer', 'takenFrom')
end
redis.call('HSET', KEYS[1], 'claim', ARGV[5], 'aliveMs', nowMs, 'epoch', epoch, 'turn', turn, 'size', size, 'running', '1',
  'crashes', crashes)
redis.call('PEXPIRE', KEYS[1], STATE_LIFE_MS)
local entries, isStopped = {}, false
for index = 1, size do
  entries[index] = head[index].text
  local id = head[index].id
  if id ~= turn and redis.call('HEXISTS', ARGV[4] .. id, 'stopped') == 1 then isStopped = true end
end
local record = redis.call('HMGET', ARGV[4] .. turn, 'atMs', 'handedOver', 'owner', 'stopped', 'target', 'history', 'again', 'heldIn')
local isDoubtful = record[7] or isOfAnotherHistory(record[6])
if isDoubtful and not record[7] then redis.call('HSET', ARGV[4] .. turn, 'again', '1', 'againMs', nowMs) end
local behind = {}
if isDoubtful then
  for index = size + 1, #head do behind[#behind + 1] = head[index].text end
end
local function heldCount()
  local all = redis.call('LLEN', KEYS[4])
  if all == 0 or all > MAX_HELD_COUNTED then return all end
  local own = 0
  for _, entry in ipairs(redis.call('LRANGE', KEYS[4], 0, -1)) do
    local owner = redis.call('HGET', ARGV[4] .. readEntry(entry).id, 'owner')
    if not owner or owner == record[3] then own = own + 1 end
  end
  return own
end
local function overtakenCount()
  if not isLeftOver then return 0 end
  local own = 0
  for index = size + 1, #head do
    local isOlder = head[index].seq and head[index].seq < (head[1].seq or 0)
    if isOlder and redis.call('HGET', ARGV[4] .. head[index].id, 'owner') == record[3] then own = own + 1 end
  end
  return own
end
local preferences = record[3] and redis.call('HGETALL', ARGV[8] .. record[3]) or {}
if #preferences > 0 then redis.call('PEXPIRE', ARGV[8] .. record[3], ARGV[9]) end
local history, kept = newest(KEYS[5], tonumber(ARGV[3]), tonumber(ARGV[6]))
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
  notices = redis.call('LRANGE', KEYS[6], 0, -1),
  wasBegun = isLeftOver,
  preferences = preferences,
  wasStopped = isStopped or record[4],
  redisNowMs = nowMs,
  summary = redis.call('GET', KEYS[7]),
  historyLength = kept,
  target = record[5],
  dueForMs = nowMs - math.max(head[1].takenMs or nowMs, count('dueMs')),
  leftovers = redis.call('LRANGE', KEYS[8], 0, -1),
  mayBeAnswered = isDoubtful,
  behind = behind,
  excusedUntilMs = count('excusedMs'),
  wasHeldInGroup = record[8] == 'group',
}
