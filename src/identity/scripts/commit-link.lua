-- The one step that makes a link (SECURITY.md linked-in-one-step): from the browser that confirms, or from the chat message that
-- brings the typed code (step 21). Wrong codes are counted in the same step, so that no more are compared than allowed.
-- Once more after a failover it makes the link that was made then, unless this history knows of it, or of a later change.
-- Constants  CHANGED_LIFE_MS (how long it is known when a person's link changed)
-- KEYS: 1 ticket, 2 quarantine, 3 link, 4 holder of the account, 5 conversations that wait, 6 live ticket of the person,
--       7 index of releases, 8 index of re-checks, 9 what became of the person's messages with codes, 10 when the person's
--       link changed
-- ARGV: 1 now (ms), 2 cookie hash, 3 quarantine as it was read, 4 person, 5 account key, 6 what stays in the quarantine's
--       place, 7 its life (ms), 8 link life (ms), 9 release life (ms), 10 release id prefix, 11 prefix of release keys,
--       12 prefix of link keys, 13 next re-check (ms; 0 for none), 14 MAC of the typed code ('' from the browser),
--       15 message, 16 language, 17 most wrong codes, 18 life of 9 (ms), 19 name of this call, 20 when the link was made
--       before a failover, by Redis' clock (ms; '' for a new one), 21 the same by the process, as in the fields, 22 … the
--       link's fields and values
-- Output: {'linked', when it was made by Redis' clock (ms), release id, conversation, …} | {'linked-before'} | {'gone'} |
--         {'already-linked'} | {'held-elsewhere', holder} | {'wrong', tries left}, and only once more {'known'}.
--         Safe to repeat: the same call is answered as before, since whoever has to be told of it is told by whom it is
--         answered. To another call a ticket that this browser finished answers 'linked-before', and a message with a code
--         as before, which for 'linked' is 'linked-before'. What is made once more is 'known' from then on, and its releases
--         are repeated until they are done.
local isTyped = ARGV[14] ~= ''
local isAgain = ARGV[20] ~= ''
local function remember(kind, more)
  if not isTyped then return end
  redis.call('HSET', KEYS[9], ARGV[15], cjson.encode({ kind, more or '', ARGV[16] }))
  redis.call('PEXPIRE', KEYS[9], ARGV[18])
end
-- By Redis' clock, and each change of a person's link later than the one before.
local changedMs = tonumber(redis.call('GET', KEYS[10]) or '0')
local madeMs = isAgain and tonumber(ARGV[20]) or math.max(redisNowMs(), changedMs + 1)
local present = redis.call('HMGET', KEYS[3], 'accountKey', 'linkedAtMs')
local function holderElsewhere()
  local holder = redis.call('GET', KEYS[4])
  if holder and holder ~= ARGV[4] and redis.call('HGET', ARGV[12] .. holder, 'accountKey') == ARGV[5] then return holder end
end

local function link()
  redis.call('DEL', KEYS[6], KEYS[3])
  redis.call('HSET', KEYS[3], unpack(ARGV, 22))
  redis.call('PEXPIRE', KEYS[3], ARGV[8])
  redis.call('SET', KEYS[4], ARGV[4], 'PX', ARGV[8])
  redis.call('SET', KEYS[10], madeMs, 'PX', CHANGED_LIFE_MS)
  if ARGV[13] == '0' then
    redis.call('ZREM', KEYS[8], ARGV[4])
  else
    redis.call('ZADD', KEYS[8], ARGV[13], ARGV[4])
    redis.call('PEXPIRE', KEYS[8], ARGV[8])
  end
  remember('linked-before')
  local answer = { 'linked', madeMs }
  for index, conversation in ipairs(redis.call('SMEMBERS', KEYS[5])) do
    local id = ARGV[10] .. '-' .. index
    redis.call('SET', ARGV[11] .. id, conversation, 'PX', ARGV[9])
    redis.call('ZADD', KEYS[7], ARGV[1], id)
    answer[#answer + 1] = id
    answer[#answer + 1] = conversation
  end
  redis.call('PEXPIRE', KEYS[7], ARGV[9])
  redis.call('DEL', KEYS[5])
  return answer
end

if isAgain then
  -- What is so old that a later change may be forgotten by now is not made again. An older program notes no changes.
  local isOld = redisNowMs() - madeMs >= CHANGED_LIFE_MS / 2
  local isLater = present[1] and tonumber(present[2] or '0') >= tonumber(ARGV[21])
  if isOld or isLater or changedMs >= madeMs then return { 'known' } end
  local holder = holderElsewhere()
  if holder then return { 'held-elsewhere', holder } end
  -- Another account had been undone before this one was linked.
  local old = present[1] and present[1] ~= ARGV[5] and string.sub(KEYS[4], 1, #KEYS[4] - #ARGV[5]) .. present[1]
  if old and redis.call('GET', old) == ARGV[4] then redis.call('DEL', old) end
  if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'status', 'done') end
  if redis.call('GET', KEYS[2]) == ARGV[3] then redis.call('SET', KEYS[2], ARGV[6], 'PX', ARGV[7]) end
  return link()
end

local answered = redis.call('HMGET', KEYS[1], 'answeredTo', 'answer')
if answered[1] == ARGV[19] then return cjson.decode(answered[2]) end
local function answerWith(answer)
  redis.call('HSET', KEYS[1], 'answeredTo', ARGV[19], 'answer', cjson.encode(answer))
  return answer
end

if isTyped then
  local before = redis.call('HGET', KEYS[9], ARGV[15])
  if before then return cjson.decode(before) end
end

local ticket = redis.call('HMGET', KEYS[1], 'status', 'expiresAtMs', 'browser', 'codeMac')
if ticket[3] ~= ARGV[2] then return { 'gone' } end
if ticket[1] == 'done' and not isTyped then return { 'linked-before' } end
local open = isTyped and 'awaiting_code' or 'started'
if ticket[1] ~= open or tonumber(ticket[2]) <= tonumber(ARGV[1]) then return { 'gone' } end

local function refuse(...)
  redis.call('DEL', KEYS[2], KEYS[6])
  redis.call('HSET', KEYS[1], 'status', 'refused')
  remember((...))
  return answerWith({ ... })
end
-- Both are HMACs under a key of the server's: how long this comparison takes tells nothing that a sender could use.
if isTyped and ticket[4] ~= ARGV[14] then
  local left = tonumber(ARGV[17]) - redis.call('HINCRBY', KEYS[1], 'wrongCodes', 1)
  remember('wrong', tostring(left))
  if left <= 0 then
    redis.call('DEL', KEYS[2], KEYS[6])
    redis.call('HSET', KEYS[1], 'status', 'refused')
  end
  return answerWith({ 'wrong', tostring(left) })
end
if redis.call('GET', KEYS[2]) ~= ARGV[3] then return { 'gone' } end

if present[1] and present[1] ~= ARGV[5] then return refuse('already-linked') end
local holder = holderElsewhere()
if holder then return refuse('held-elsewhere', holder) end

redis.call('HSET', KEYS[1], 'status', 'done')
redis.call('SET', KEYS[2], ARGV[6], 'PX', ARGV[7])
return answerWith(link())
