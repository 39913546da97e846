-- commit.lua
local REPLY_CHANNEL = "reply-changed"
local CLEARED_MARK_MS = 3600000
local RECORD_LIFE_MS = 86400000
local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function answer(of) return {of.verdict or false, of.waiting or false} end
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
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[2]) then return answer { verdict = 'stale' } end
local changes = cjson.decode(ARGV[4])
if redis.call('HGET', KEYS[1], 'turn') ~= changes.answeredBy then return answer { verdict = 'done', waiting = redis.call('LLEN', KEYS[2]) } end
local size = tonumber(redis.call('HGET', KEYS[1], 'size') or '0')
local function note(id, ...)
  local record = ARGV[3] .. id
  redis.call('HSET', record, ...)
  if redis.call('PTTL', record) == -1 then redis.call('PEXPIRE', record, RECORD_LIFE_MS) end
end
local function leaveUnanswered()
  for _, record in ipairs(changes.records) do
    for at = 1, #record.fields, 2 do
      if string.sub(record.fields[at], 1, 5) == 'post:' then note(record.id, record.fields[at], record.fields[at + 1]) end
    end
  end
  return answer { verdict = 'amended' }
end
if redis.call('HGET', KEYS[1], 'amended') == changes.answeredBy then return leaveUnanswered() end
local isTakenBack = size > 0
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, size - 1)) do
  if redis.call('HGET', ARGV[3] .. readEntry(entry).id, 'deleted') ~= '1' then isTakenBack = false end
end
if isTakenBack and changes.outcome == 'held' then return leaveUnanswered() end
if isTakenBack then changes.history, changes.threadHistory, changes.thread, changes.followed = nil, nil, nil, nil end
local looks = {}
for _, record in ipairs(changes.records) do
  looks[record.id] = record.fields
  if record.followUp then
    local key, nowMs = changes.followUps.prefix .. record.id, redisNowMs()
    redis.call('HSET', key, 'sealed', record.followUp, 'atMs', nowMs)
    redis.call('PEXPIRE', key, changes.followUps.lifeMs)
    redis.call('ZADD', changes.followUps.due, nowMs, record.id)
  end
end
for _ = 1, size do
  local entry = redis.call('LPOP', KEYS[2])
  if entry and changes.outcome == 'held' then redis.call('RPUSH', KEYS[4], entry) end
  local id = entry and readEntry(entry).id
  if id then
    note(id, 'state', changes.outcome, 'turn', changes.answeredBy, 'epoch', ARGV[2], unpack(looks[id] or {}))
    if changes.heldIn then note(id, 'heldIn', changes.heldIn) end
    looks[id] = nil
  end
end
if changes.outcome == 'held' then redis.call('PEXPIRE', KEYS[4], changes.heldLifeMs) end
for id, fields in pairs(looks) do note(id, unpack(fields)) end
local function remember(key, turn)
  redis.call('RPUSH', key, turn)
  redis.call('LTRIM', key, -changes.kept.most, -1)
  redis.call('PEXPIRE', key, changes.kept.lifeMs)
end
local function clear(summary)
  redis.call('SET', summary, '-' .. changes.answeredBy, 'PX', CLEARED_MARK_MS)
end
local history = changes.history
if history then
  if history.forget then redis.call('DEL', KEYS[5]) end
  if history.forget or history.startsConversation then clear(KEYS[7]) end
  if history.replaceLast then redis.call('RPOP', KEYS[5]) end
  if history.append then
    remember(KEYS[5], history.append)
    if changes.kept.summary and not history.startsConversation then redis.call('PEXPIRE', KEYS[7], changes.kept.lifeMs) end
  end
end
if changes.threadHistory then remember(KEYS[8], changes.threadHistory) end
local chosen = changes.preferences
if chosen then
  redis.call('HSET', chosen.key, chosen.field, chosen.sealed)
  redis.call('PEXPIRE', chosen.key, chosen.lifeMs)
end
if changes.thread then
  redis.call('ZADD', changes.thread.index, redisNowMs(), changes.thread.id)
  redis.call('ZREMRANGEBYRANK', changes.thread.index, 0, -1 - changes.maxThreads)
  redis.call('PEXPIRE', changes.thread.index, changes.kept.lifeMs)
end
if changes.followed then redis.call('SET', changes.followed.key, '1', 'PX', changes.followed.lifeMs) end
if changes.erase then
  for _, gone in ipairs(changes.erase.remove) do redis.call('LREM', gone.list, 0, gone.record) end
  for _, key in ipairs(changes.erase.drop) do redis.call('DEL', key) end
  for _, gone in ipairs(changes.erase.fields or {}) do redis.call('HDEL', gone.key, gone.field) end
  for _, key in ipairs(changes.erase.clear or {}) do clear(key) end
end
if changes.usage then
  for field, count in pairs(changes.usage.add) do redis.call('HINCRBY', changes.usage.key, field, count) end
  redis.call('PEXPIRE', changes.usage.key, changes.usage.lifeMs)
end
for _, notice in ipairs(changes.noticesShown) do redis.call('LREM', KEYS[6], 1, notice) end
if changes.stopServed > 0 then redis.call('HSET', KEYS[1], 'stopServed', changes.stopServed) end
for _, record in ipairs(changes.records) do
  if record.isNotified then redis.call('PUBLISH', REPLY_CHANNEL, record.id) end
end
redis.call('HDEL', KEYS[1], 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'amended')
local waiting = redis.call('LLEN', KEYS[2])
if waiting == 0 then
  redis.call('ZREM', KEYS[3], ARGV[1])
else
  local nowMs = redisNowMs()
  redis.call('ZADD', KEYS[3], nowMs, ARGV[1])
  redis.call('HSET', KEYS[1], 'dueMs', nowMs)
end
return answer { verdict = 'done', waiting = waiting }
