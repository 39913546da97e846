-- accept.lua
local REMEMBER_MS = 86400000
local MAX_OF_A_PERSON = 20
local MAX_OF_A_CHAT = 60
local MAX_BEFORE_A_STOP = 60
local MAX_INBOX = 100
local MAX_INBOX_FOR_COMMANDS = 120
local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function redisHistory()
  local told = redis.pcall('INFO', 'replication')
  return type(told) == 'string' and string.match(told, 'master_replid:(%w+)') or ''
end
local function answer(of) return {of.result or false, of.takenAtMs or false} end
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
local STOP_CHANNEL = "parley:stop"
local function tellTurn(...) redis.call('PUBLISH', STOP_CHANNEL, table.concat({...}, ':')) end
local function isMeantPost(handle, meantHandles)
  for _, meant in ipairs(meantHandles) do
    if handle == meant or string.sub(handle, 1, #meant + 1) == meant .. '/' then return true end
  end
  return false
end
local function stopMessage(record, conversationId, owner, delivery)
  redis.call('HSET', record, 'stopped', '1')
  tellTurn(conversationId, 0, owner, delivery)
end
local isStop = ARGV[6] == 'stop'
local takenBeforeMs, chatOrder = tonumber(ARGV[13]), tonumber(ARGV[12])
local isAgain = takenBeforeMs ~= nil
local known, acceptedMs, editedTo, editedMerge, wasFull = unpack(redis.call('HMGET', KEYS[1], 'state', 'atMs', 'editedTo', 'editedMerge', 'full'))
if isAgain and known ~= 'limited' then
  redis.call('HSET', KEYS[1], 'again', '1', 'againMs', redisNowMs())
  redis.call('HDEL', KEYS[1], 'polledAgain')
end
if known then
  return answer { result = known == 'limited' and (wasFull and 'full' or known) or 'repeat', takenAtMs = known == 'accepted' and tonumber(acceptedMs) or 0 }
end
local nowMs = redisNowMs()
local recordPrefix = string.sub(KEYS[1], 1, #KEYS[1] - #ARGV[1])
local function count(key)
  return redis.call('SET', key, '1', 'PX', 60000, 'NX') and 1 or redis.call('INCR', key)
end
local ofPerson, waiting = count(KEYS[5]), redis.call('LLEN', KEYS[2])
local isLimited = ofPerson > MAX_OF_A_PERSON or ARGV[8] == '1'
if KEYS[6] and count(KEYS[6]) > MAX_OF_A_CHAT then isLimited = true end
if isStop then isLimited = ofPerson > MAX_BEFORE_A_STOP end
local isFull = waiting >= (ARGV[6] ~= '' and MAX_INBOX_FOR_COMMANDS or MAX_INBOX)
local function nextSeq() return redis.call('HINCRBY', KEYS[3], 'seq', 1) end
local function setStop(seq)
  redis.call('HSET', KEYS[3], 'stopSeq', seq, 'stopOwner', ARGV[3])
  tellTurn(ARGV[2], seq, ARGV[3])
end
local function stopOpener()
  local opener = ARGV[9] ~= '' and recordPrefix .. ARGV[9]
  local state, owner, conversationId = unpack(opener and redis.call('HMGET', opener, 'state', 'owner', 'conversation') or {})
  if owner ~= ARGV[3] or (state ~= 'accepted' and state ~= 'held') then return false end
  redis.call('HSET', opener, 'stopped', '1')
  tellTurn(conversationId, 0, ARGV[3], ARGV[9])
  return true
end
if (isLimited or isFull) and not isAgain then
  redis.call('HSET', KEYS[1], 'state', 'limited', 'owner', ARGV[3], 'atMs', nowMs, unpack(isFull and {'full', '1'} or {}))
  redis.call('PEXPIRE', KEYS[1], REMEMBER_MS)
  if isStop then
    local saidMs = tonumber(ARGV[11]) or nowMs
    if redis.call('EXISTS', KEYS[3]) == 1 and saidMs >= tonumber(redis.call('HGET', KEYS[3], 'saidMs') or '0') then setStop(nextSeq()) end
    stopOpener()
  end
  return answer { result = isFull and 'full' or 'limited' }
end
local takenMs = isAgain and math.min(takenBeforeMs, nowMs) or nowMs
local behind, isOvertaken = {}, false
local turn, size, newestSaidMs = unpack(redis.call('HMGET', KEYS[3], 'turn', 'size', 'saidMs'))
local function isLater(entry)
  local order = chatOrder and entry.seq and tonumber(redis.call('HGET', recordPrefix .. entry.id, 'chatOrder') or '')
  if order then return order > chatOrder end
  if isAgain then return (entry.takenMs or 0) > takenMs end
end
if waiting > 0 and (isAgain or chatOrder) then
  local begun = turn and tonumber(size or '0') or 0
  for _, text in ipairs(isAgain and begun > 0 and redis.call('LRANGE', KEYS[2], 0, begun - 1) or {}) do
    isOvertaken = isOvertaken or isLater(readEntry(text))
  end
  local entries = redis.call('LRANGE', KEYS[2], begun, -1)
  local first = #entries + 1
  for index = #entries, 1, -1 do
    entries[index] = readEntry(entries[index])
    local later = isLater(entries[index])
    if later then first = index end
    if later == false and not isAgain then break end
  end
  for index = first, #entries do behind[#behind + 1] = entries[index] end
  for _ = 1, #behind do redis.call('RPOP', KEYS[2]) end
end
local saidMs = not isAgain and tonumber(ARGV[11])
if saidMs then
  if saidMs < tonumber(newestSaidMs or '0') then isOvertaken = true
  else redis.call('HSET', KEYS[3], 'saidMs', saidMs) end
end
local seq = nextSeq()
local mergeKey = isAgain and '-' or editedMerge or ARGV[4]
if editedTo then redis.call('HDEL', KEYS[1], 'editedTo', 'editedMerge') end
redis.call('RPUSH', KEYS[2], writeEntry(ARGV[1], mergeKey, takenMs, seq, editedTo or ARGV[5]))
local stopSeq, stopServed = unpack(#behind > 0 and redis.call('HMGET', KEYS[3], 'stopSeq', 'stopServed') or {})
for _, entry in ipairs(behind) do
  local newSeq = nextSeq()
  redis.call('RPUSH', KEYS[2], entry.seq and writeEntry(entry.id, entry.mergeKey, entry.takenMs, newSeq, sealedOf(entry)) or entry.text)
  if entry.seq and entry.seq == tonumber(stopSeq or '') then redis.call('HSET', KEYS[3], 'stopSeq', newSeq) end
  if entry.seq and entry.seq == tonumber(stopServed or '') then redis.call('HSET', KEYS[3], 'stopServed', newSeq) end
end
local fields = {'state', 'accepted', 'conversation', ARGV[2], 'owner', ARGV[3], 'atMs', takenMs, 'history', redisHistory()}
if ARGV[10] ~= '' then fields[#fields + 1], fields[#fields + 2] = 'target', ARGV[10] end
if chatOrder then fields[#fields + 1], fields[#fields + 2] = 'chatOrder', ARGV[12] end
if ARGV[7] == '1' then fields[#fields + 1], fields[#fields + 2] = 'later', '1' end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('PEXPIRE', KEYS[1], REMEMBER_MS)
redis.call('ZADD', KEYS[4], 'NX', nowMs, ARGV[2])
if isStop then
  if not isOvertaken and seq >= tonumber(redis.call('HGET', KEYS[3], 'stopSeq') or '0') then setStop(seq) end
  if stopOpener() then redis.call('HSET', KEYS[3], 'stopServed', seq) end
end
return answer { result = 'new', takenAtMs = takenMs }
