-- Ends a turn in one step: its messages leave the inbox (or move to `held`), their records become final, and the history grows.
-- Refused if a newer epoch exists. Safe to repeat: a connection that broke before the answer arrived sends the command again, and
-- by then the turn is no longer the running one (SECURITY.md repeatable-scripts).
--
-- Constants  REPLY_CHANNEL, CLEARED_MARK_MS (life of the mark of a cleared summary), RECORD_LIFE_MS (of a message record, if it had expired),
--            HELD_LIFE_MS, MAX_TURNS (of a history), MAX_THREADS (of a person in a chat), MAX_CHATS (of a person in a partition),
--            MAX_AUDIT (entries of the stream), MAX_UNANSWERED (questions of a person in a partition)
-- Keys       state   inbox   pending   held   history   notices   summary   threadHistory: of the thread that the answer begins
--            audit: stream   holds: people on legal hold   onHold: turns that are kept only for the hold
-- Arguments  conversationId   epoch   messagePrefix: of message keys   append?, threadAppend?: turns for the histories   changes: as JSON:
--            { outcome: 'final' | 'held' | 'dead', heldIn?: 'group', history?: { forget, replaceLast, startsConversation }, kept: { lifeMs, summary? },
--              records: [{ id, fields: [name, value, ...], followUp?, isNotified? }], followUps?: { due, prefix, lifeMs }, noticesShown?, stopServed?, answeredBy,
--              preferences?: { key, field, sealed, lifeMs },
--              erase?: { remove: [{ list, record }], drop: [key], fields?: [{ key, field }], clear?: [summary] },
--              thread?: { index, id }, followed?: { key, lifeMs },
--              usage?: { key, add: { field: count }, lifeMs }, unanswered?: { key, entry, lifeMs }, budgets?: [library/settle-budget.lua; not on a cluster],
--              person?, chats?: { key, ids }, audit?: [entry],
--              letter?: { key, index, id, why, ids, lifeMs, max } (messages that are kept for an administrator) }
-- Returns    verdict: 'done' | 'stale' | 'amended' (the question has changed and must be answered again)   waiting: messages that still wait
local epoch, turn, amended, size, claims = unpack(redis.call('HMGET', keys.state, 'epoch', 'turn', 'amended', 'size', 'claims'))
-- guard: fence/commit
if tonumber(epoch or '0') ~= tonumber(args.epoch) then return answer { verdict = 'stale' } end
local changes = cjson.decode(args.changes)
-- guard: repeatable-scripts/committed-turn
if turn ~= changes.answeredBy then return answer { verdict = 'done', waiting = redis.call('LLEN', keys.inbox) } end
size = tonumber(size or '0')

-- A record with a state has a lifetime (accept.lua). That of a message that waited for a day may have expired; it is written again, and must
-- expire too.
local hasLife = {}
local function note(id, ...)
  local record = args.messagePrefix .. id
  redis.call('HSET', record, ...)
  if not hasLife[id] and redis.call('PTTL', record) == -1 then redis.call('PEXPIRE', record, RECORD_LIFE_MS) end
end
-- The worker that answers again continues in the existing post.
local function leaveUnanswered()
  for _, record in ipairs(changes.records) do
    for at = 1, #record.fields, 2 do
      -- guard: taken-back/keeps-posts
      if string.sub(record.fields[at], 1, 5) == 'post:' then note(record.id, record.fields[at], record.fields[at + 1]) end
    end
  end
  return answer { verdict = 'amended' }
end
-- guard: taken-back/edited-meanwhile
if amended == changes.answeredBy then return leaveUnanswered() end
-- A turn whose messages were all deleted leaves no history.
local isTakenBack = size > 0
-- With one more entry, if others wait.
local entries, ids, deleted = size > 0 and redis.call('LRANGE', keys.inbox, 0, size) or {}, {}, {}
for index = 1, math.min(size, #entries) do
  local id = readEntry(entries[index]).id
  local state, isDeleted = unpack(redis.call('HMGET', args.messagePrefix .. id, 'state', 'deleted'))
  ids[index], hasLife[id], deleted[id] = id, state, isDeleted == '1'
  if not deleted[id] then isTakenBack = false end
end
-- It is not held for sign-in either: the worker that takes it again finds it stopped and deletes the invitation. An erasure marks
-- messages only as deleted, because it does not stop a running answer.
if isTakenBack and changes.outcome == 'held' then
  for _, id in ipairs(ids) do note(id, 'stopped', '1') end
  return leaveUnanswered()
end
-- guard: taken-back/no-history
if isTakenBack then changes.history, args.threadAppend, changes.thread, changes.followed = nil, '', nil, nil end
local looks = {}
for _, record in ipairs(changes.records) do
  looks[record.id] = record.fields
  if record.id == turn and claims then
    record.fields[#record.fields + 1], record.fields[#record.fields + 2] = 'claims', claims
  end
  if record.followUp then
    local key, nowMs = changes.followUps.prefix .. record.id, redisNowMs()
    redis.call('HSET', key, 'sealed', record.followUp, 'atMs', nowMs)
    redis.call('PEXPIRE', key, changes.followUps.lifeMs)
    redis.call('ZADD', changes.followUps.due, nowMs, record.id)
  end
end
for index, id in ipairs(ids) do
  redis.call('LPOP', keys.inbox)
  if changes.outcome == 'held' then redis.call('RPUSH', keys.held, entries[index]) end
  note(id, 'state', changes.outcome, 'turn', changes.answeredBy, 'epoch', args.epoch, unpack(looks[id] or {}))
  if changes.heldIn then note(id, 'heldIn', changes.heldIn) end
  looks[id] = nil
end
if changes.outcome == 'held' then redis.call('PEXPIRE', keys.held, HELD_LIFE_MS) end

local letter = changes.letter
if letter then
  local kept, nowMs = {}, redisNowMs()
  for _, id in ipairs(letter.ids) do kept[id] = true end
  for index, id in ipairs(ids) do
    -- A message that its sender deleted is not kept.
    -- guard: taken-back/no-dead-letter
    if deleted[id] then kept[id] = nil end
    if kept[id] then redis.call('HSET', letter.key, 'entry:' .. index, entries[index]) end
  end
  if redis.call('EXISTS', letter.key) == 1 then
    local record = redis.call('HMGET', args.messagePrefix .. letter.id, 'owner', 'target', 'later')
    redis.call('HSET', letter.key, 'atMs', nowMs, 'why', letter.why, 'conversation', args.conversationId,
      'owner', record[1] or '', 'target', record[2] or '', 'later', record[3] or '')
    redis.call('PEXPIRE', letter.key, letter.lifeMs)
    redis.call('ZADD', letter.index, nowMs, letter.id)
    redis.call('ZREMRANGEBYSCORE', letter.index, '-inf', nowMs - letter.lifeMs)
    redis.call('ZREMRANGEBYRANK', letter.index, 0, -1 - letter.max)
    redis.call('PEXPIRE', letter.index, letter.lifeMs)
  end
end

for id, fields in pairs(looks) do note(id, unpack(fields)) end

local isOnHold = changes.person and redis.call('SISMEMBER', keys.holds, changes.person) == 1
-- A list that does not expire holds turns of a person on legal hold. It is neither trimmed nor given a lifetime.
local function remember(key, turn)
  local count = redis.call('RPUSH', key, turn)
  -- guard: legal-hold/never-expires
  if isOnHold or (count > 1 and redis.call('PTTL', key) == -1) then return redis.call('PERSIST', key) end
  if count > MAX_TURNS then redis.call('LTRIM', key, -MAX_TURNS, -1) end
  redis.call('PEXPIRE', key, changes.kept.lifeMs)
end
local function keepForHold(turns)
  -- guard: legal-hold/keeps-deleted
  if isOnHold then for _, turn in ipairs(turns) do redis.call('RPUSH', keys.onHold, turn) end end
end
-- This mark makes write-summary.lua refuse a summary in progress of the forgotten turns.
local function clear(summary)
  redis.call('SET', summary, '-' .. changes.answeredBy, 'PX', CLEARED_MARK_MS)
end
local history = changes.history
if history then
  if history.forget then
    -- In a shared conversation another person may forget them.
    isOnHold = isOnHold or redis.call('PTTL', keys.history) == -1
    keepForHold(isOnHold and redis.call('LRANGE', keys.history, 0, -1) or {})
    redis.call('DEL', keys.history)
  end
  -- guard: group-is-not-private/summary-ends
  if history.forget or history.startsConversation then clear(keys.summary) end
  if history.replaceLast then keepForHold({ redis.call('RPOP', keys.history) or nil }) end
  if args.append ~= '' then
    remember(keys.history, args.append)
    -- A summary lives as long as the turns that it accompanies.
    if changes.kept.summary and not history.startsConversation then redis.call('PEXPIRE', keys.summary, changes.kept.lifeMs) end
  end
end
if args.threadAppend ~= '' then remember(keys.threadHistory, args.threadAppend) end
local chosen = changes.preferences
if chosen then
  redis.call('HSET', chosen.key, chosen.field, chosen.sealed)
  redis.call('PEXPIRE', chosen.key, chosen.lifeMs)
end
if changes.thread then
  redis.call('ZADD', changes.thread.index, redisNowMs(), changes.thread.id)
  redis.call('ZREMRANGEBYRANK', changes.thread.index, 0, -1 - MAX_THREADS)
  redis.call('PEXPIRE', changes.thread.index, changes.kept.lifeMs)
end
if changes.chats then
  local nowMs = redisNowMs()
  local added = 0
  for _, id in ipairs(changes.chats.ids) do added = added + redis.call('ZADD', changes.chats.key, nowMs, id) end
  if added > 0 then redis.call('ZREMRANGEBYRANK', changes.chats.key, 0, -1 - MAX_CHATS) end
  redis.call('PEXPIRE', changes.chats.key, changes.kept.lifeMs)
end
-- guard: audit-record/with-commit
for _, entry in ipairs(changes.audit or {}) do redis.call('XADD', keys.audit, 'MAXLEN', '~', MAX_AUDIT, '*', 'e', entry) end
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
local unanswered = changes.unanswered
if unanswered then
  redis.call('ZADD', unanswered.key, redisNowMs(), unanswered.entry)
  redis.call('ZREMRANGEBYRANK', unanswered.key, 0, -1 - MAX_UNANSWERED)
  redis.call('PEXPIRE', unanswered.key, unanswered.lifeMs)
end
-- guard: budgets/settled
for _, budget in ipairs(changes.budgets or {}) do settleBudget(budget, changes.answeredBy) end
for _, notice in ipairs(changes.noticesShown or {}) do redis.call('LREM', keys.notices, 1, notice) end
if (changes.stopServed or 0) > 0 then redis.call('HSET', keys.state, 'stopServed', changes.stopServed) end

for _, record in ipairs(changes.records) do
  if record.isNotified then redis.call('PUBLISH', REPLY_CHANNEL, record.id) end
end

redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs', 'amended', 'claims', 'did')
local waiting = #entries > #ids and redis.call('LLEN', keys.inbox) or 0
if waiting == 0 then
  redis.call('ZREM', keys.pending, args.conversationId)
else
  local nowMs = redisNowMs()
  redis.call('ZADD', keys.pending, nowMs, args.conversationId)
  -- The next message waited behind this turn until now, which does not count as delay.
  redis.call('HSET', keys.state, 'dueMs', nowMs)
end
return answer { verdict = 'done', waiting = waiting }
