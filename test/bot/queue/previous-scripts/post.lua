-- post.lua
local RECORD_LIFE_MS = 86400000
local PLACE_LIFE_MS = 7200000
local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function answer(of) return {of.verdict or false, of.known or false, of.sinceMs or false, of.isOwn or false, of.left or false} end
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
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return answer { verdict = 'stale' } end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'answer', ARGV[4]) end
local field, since, by, handle = 'post:' .. ARGV[2], 'since:' .. ARGV[2], 'by:' .. ARGV[2], ARGV[3]
local leftField = 'left:' .. ARGV[2]
local found = redis.call('HMGET', KEYS[2], field, 'again', since, by, leftField)
local left = found[5] or ''
local function note(...)
  redis.call('HSET', KEYS[2], ...)
  if redis.call('PTTL', KEYS[2]) == -1 then redis.call('PEXPIRE', KEYS[2], RECORD_LIFE_MS) end
end
if ARGV[7] ~= '' and (found[1] == ARGV[7] or (found[1] == 'posting' and found[4] == ARGV[1])) then
  if not string.find(' ' .. left .. ' ', ' ' .. ARGV[7] .. ' ', 1, true) then
    left = left == '' and ARGV[7] or left .. ' ' .. ARGV[7]
    note(leftField, left)
  end
  if found[1] == ARGV[7] then
    redis.call('HDEL', KEYS[2], field, since, by)
    found[1], found[3], found[4] = false, false, false
  end
end
if handle ~= '' then
  for at in string.gmatch(handle .. '/', '()/') do
    if redis.call('ZSCORE', KEYS[3], 'stray:' .. string.sub(handle, 1, at - 1)) then return answer { verdict = 'gone' } end
  end
  note(field, handle)
  local asked = redis.call('HMGET', KEYS[2], 'stopAt', 'conversation', 'owner')
  local meantHandles = {}
  for meant in string.gmatch(asked[1] or '', '%S+') do table.insert(meantHandles, meant) end
  if isMeantPost(handle, meantHandles) then stopMessage(KEYS[2], asked[2], asked[3], ARGV[6]) end
  return answer { verdict = 'ok', known = handle, left = left }
end
if found[1] and found[1] ~= 'posting' then return answer { verdict = 'ok', known = found[1], left = left } end
local nowMs = redisNowMs()
local known = (found[1] or found[2]) and 'posting' or 'unsent'
local leavesNow = ARGV[5] == '1' or known == 'unsent'
local notedMs = not leavesNow and tonumber(found[3] or nil)
local sinceMs = notedMs or known == 'posting' and not leavesNow and not found[1] and nowMs - ARGV[8] or nowMs
if not notedMs then
  note(field, 'posting', since, sinceMs, by, leavesNow and ARGV[1] or '')
  redis.call('ZADD', KEYS[3], nowMs, ARGV[6] .. ':' .. ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', nowMs - PLACE_LIFE_MS)
  redis.call('PEXPIRE', KEYS[3], PLACE_LIFE_MS)
end
return answer { verdict = 'ok', known = known, sinceMs = nowMs - sinceMs, isOwn = found[4] == ARGV[1], left = left }
