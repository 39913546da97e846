-- Creates a link and uses up its single-use invitation in one step (SECURITY.md linked-in-one-step). Called by the browser that
-- confirms, or for the chat message with the typed code. Wrong codes are counted in the same step, so that the limit holds.
-- Called again after a failover, it restores the link, unless Redis already has it or a later change.
-- Constants  CHANGED_LIFE_MS (how long the time of a person's last link change is kept)
-- Keys       ticket: the invitation   quarantine: pending sign-in   link   holder: of the account   waiting: conversations that wait
--            liveTicket: of the person   releases: their index   rechecks: their index
--            outcomes: of the person's messages with codes   changed: time of the person's last link change
-- Arguments  nowMs   cookieHash   quarantineRead: as it was read   person   accountKey   newQuarantine: its replacement
--            quarantineLifeMs   linkLifeMs   releaseLifeMs   releaseIdPrefix   releasePrefix, linkPrefix: of those keys
--            nextCheckAtMs: 0 for none   codeMac: of the typed code ('' from the browser)   messageId   language   maxWrongCodes
--            outcomeLifeMs   callName: of this call   madeAtMs: creation time before a failover, by Redis' clock ('' for a new link)
--            linkedAtMs: the same by the process's clock, as in the fields   fields: the link's fields and values
-- Returns    kind, detail and releases: 'linked', with the creation time by Redis' clock (ms) and release id, conversation, … |
--            'linked-before' | 'gone' | 'already-linked' | 'held-elsewhere', with the holder | 'wrong', with the tries left |
--            'known', only when restoring.
--            Safe to repeat: the same call gets the same answer, because its caller sends the notifications. Another call for an
--            invitation that this browser completed gets 'linked-before'. A message with a code gets the same answer again, but
--            'linked-before' instead of 'linked'. After a restore, further restores get 'known', and its releases are repeated
--            until they are done.
local isTyped = args.codeMac ~= ''
local isAgain = args.madeAtMs ~= ''
local function remember(kind, more)
  if not isTyped then return end
  redis.call('HSET', keys.outcomes, args.messageId, cjson.encode({ kind, more or '', args.language }))
  redis.call('PEXPIRE', keys.outcomes, args.outcomeLifeMs)
end
-- By Redis' clock. Each change of a person's link is later than the previous one.
local changedMs = tonumber(redis.call('GET', keys.changed) or '0')
local madeMs = isAgain and tonumber(args.madeAtMs) or math.max(redisNowMs(), changedMs + 1)
local present = redis.call('HMGET', keys.link, 'accountKey', 'linkedAtMs')
local function holderElsewhere()
  local holder = redis.call('GET', keys.holder)
  -- guard: linked-in-one-step/unlinked-account
  if holder and holder ~= args.person and redis.call('HGET', args.linkPrefix .. holder, 'accountKey') == args.accountKey then return holder end
end

local function link()
  redis.call('DEL', keys.liveTicket, keys.link)
  redis.call('HSET', keys.link, unpack(args.fields))
  redis.call('PEXPIRE', keys.link, args.linkLifeMs)
  redis.call('SET', keys.holder, args.person, 'PX', args.linkLifeMs)
  redis.call('SET', keys.changed, madeMs, 'PX', CHANGED_LIFE_MS)
  if args.nextCheckAtMs == '0' then
    redis.call('ZREM', keys.rechecks, args.person)
  else
    redis.call('ZADD', keys.rechecks, args.nextCheckAtMs, args.person)
    redis.call('PEXPIRE', keys.rechecks, args.linkLifeMs)
  end
  remember('linked-before')
  local releases = {}
  for index, conversation in ipairs(redis.call('SMEMBERS', keys.waiting)) do
    local id = args.releaseIdPrefix .. '-' .. index
    redis.call('SET', args.releasePrefix .. id, conversation, 'PX', args.releaseLifeMs)
    redis.call('ZADD', keys.releases, args.nowMs, id)
    releases[#releases + 1] = id
    releases[#releases + 1] = conversation
  end
  redis.call('PEXPIRE', keys.releases, args.releaseLifeMs)
  redis.call('DEL', keys.waiting)
  return answer { kind = 'linked', detail = madeMs, releases = releases }
end

if isAgain then
  -- A change so old that a later one may already be forgotten is not restored. Older versions record no changes.
  local isOld = redisNowMs() - madeMs >= CHANGED_LIFE_MS / 2
  local isLater = present[1] and tonumber(present[2] or '0') >= tonumber(args.linkedAtMs)
  if isOld or isLater or changedMs >= madeMs then return answer { kind = 'known' } end
  local holder = holderElsewhere()
  if holder then return answer { kind = 'held-elsewhere', detail = holder } end
  -- Another account had been unlinked before this link was made.
  local old = present[1] and present[1] ~= args.accountKey and string.sub(keys.holder, 1, #keys.holder - #args.accountKey) .. present[1]
  if old and redis.call('GET', old) == args.person then redis.call('DEL', old) end
  if redis.call('EXISTS', keys.ticket) == 1 then redis.call('HSET', keys.ticket, 'status', 'done') end
  if redis.call('GET', keys.quarantine) == args.quarantineRead then redis.call('SET', keys.quarantine, args.newQuarantine, 'PX', args.quarantineLifeMs) end
  return link()
end

local answered = redis.call('HMGET', keys.ticket, 'answeredTo', 'answer')
if answered[1] == args.callName then return cjson.decode(answered[2]) end
local function answerWith(given)
  redis.call('HSET', keys.ticket, 'answeredTo', args.callName, 'answer', cjson.encode(given))
  return given
end

if isTyped then
  local before = redis.call('HGET', keys.outcomes, args.messageId)
  if before then return cjson.decode(before) end
end

local ticket = redis.call('HMGET', keys.ticket, 'status', 'expiresAtMs', 'browser', 'codeMac')
-- guard: linked-in-one-step/same-browser
if ticket[3] ~= args.cookieHash then return answer { kind = 'gone' } end
if ticket[1] == 'done' and not isTyped then return answer { kind = 'linked-before' } end
local open = isTyped and 'awaiting_code' or 'started'
-- guard: linked-in-one-step/open-invitation
if ticket[1] ~= open or tonumber(ticket[2]) <= tonumber(args.nowMs) then return answer { kind = 'gone' } end

local function refuse(kind, detail)
  redis.call('DEL', keys.quarantine, keys.liveTicket)
  redis.call('HSET', keys.ticket, 'status', 'refused')
  remember(kind)
  return answerWith(answer { kind = kind, detail = detail })
end
-- Both are HMACs under a server key, so the comparison's timing reveals nothing useful to the sender.
-- guard: typed-code/right-code
if isTyped and ticket[4] ~= args.codeMac then
  local left = tonumber(args.maxWrongCodes) - redis.call('HINCRBY', keys.ticket, 'wrongCodes', 1)
  remember('wrong', tostring(left))
  -- guard: typed-code/five-tries
  if left <= 0 then
    redis.call('DEL', keys.quarantine, keys.liveTicket)
    redis.call('HSET', keys.ticket, 'status', 'refused')
  end
  return answerWith(answer { kind = 'wrong', detail = tostring(left) })
end
-- guard: linked-in-one-step/same-sign-in
if redis.call('GET', keys.quarantine) ~= args.quarantineRead then return answer { kind = 'gone' } end

-- guard: linked-in-one-step/unlinked-person
if present[1] and present[1] ~= args.accountKey then return refuse('already-linked') end
local holder = holderElsewhere()
if holder then return refuse('held-elsewhere', holder) end

redis.call('HSET', keys.ticket, 'status', 'done')
redis.call('SET', keys.quarantine, args.newQuarantine, 'PX', args.quarantineLifeMs)
return answerWith(link())
