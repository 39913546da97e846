-- Releases held messages after their sender signed in, in the order in which they were accepted. Their age counts from now.
-- Messages before the sign-in are forgotten (SECURITY.md link-is-told). An open turn keeps its place in front, or gives it up, fenced, when it
-- finds that older questions of its sender are still held, or were released behind it since its claim.
-- In a group other people may wait too: only one person's messages are released, with their original age, and the history stays.
-- Safe to repeat: with nothing held, nothing changes; a turn that gave up its place finds that it has none.
--
-- Constants  CLEARED_MARK_MS (life of the mark of a cleared summary), RECORD_LIFE_MS (of a message record, if it had expired)
-- Keys       state   inbox   pending   held   history   summary   onHold: turns that are kept only for a legal hold
-- Arguments  conversationId   messagePrefix: of message keys   epoch: of the turn that gives up its place ('' = it keeps it)
--            owner: whose messages are released ('' = everyone's; an older version gives no owner)
-- Returns    count: released messages (-1: the turn no longer has a place)   isTurnOpen: it may have begun before the sign-in and may still be held
local state = redis.call('HMGET', keys.state, 'epoch', 'turn', 'size')
local isOpen = state[2] and true
local givesUp = args.epoch ~= ''
if givesUp and tonumber(state[1] or '0') ~= tonumber(args.epoch) then return answer { count = -1, isTurnOpen = isOpen } end
local held, isOfGroup = {}, false
for _, text in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
  local entry = readEntry(text)
  local record = redis.call('HMGET', args.messagePrefix .. entry.id, 'owner', 'heldIn')
  if args.owner == '' or not record[1] or record[1] == args.owner then
    held[#held + 1] = entry
    isOfGroup = isOfGroup or record[2] == 'group'
  end
end
-- A release since the claim put older questions behind the open turn: they come first, too.
local waiting, overtaken = {}, {}
local kept = tonumber(state[3] or '0')
if givesUp then
  local first = redis.call('LINDEX', keys.inbox, 0)
  local firstSeq = first and readEntry(first).seq or 0
  for index, text in ipairs(redis.call('LRANGE', keys.inbox, 0, -1)) do
    local entry = readEntry(text)
    local isOlder = index > kept and entry.seq and entry.seq < firstSeq
    local owner = isOlder and redis.call('HGET', args.messagePrefix .. entry.id, 'owner')
    if isOlder and (args.owner == '' or not owner or owner == args.owner) then
      -- guard: in-order/overtaken
      overtaken[#overtaken + 1] = {seq = entry.seq, text = text}
    else
      waiting[#waiting + 1] = text
    end
  end
else
  waiting = redis.call('LRANGE', keys.inbox, kept, -1)
end
if #held + #overtaken == 0 then return answer { count = 0, isTurnOpen = isOpen } end
-- The held list is out of order if a message was released behind an open turn that was held then, and was held again after
-- it.
table.sort(held, function(one, other) return one.seq < other.seq end)
if givesUp then
  redis.call('HDEL', keys.state, 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer', 'aliveMs', 'takenFrom', 'dueMs')
  -- From here on the turn's writes in flight are refused, and so is a repeat of this step.
  redis.call('HINCRBY', keys.state, 'epoch', 1)
  isOpen = false
end

local released, releasedMs, last = {}, redisNowMs(), ''
for index = #held, 1, -1 do
  local entry = held[index]
  local id, seq = entry.id, entry.seq
  -- Without the suffix of an earlier release.
  local mergeKey = string.match(entry.mergeKey, '^[^+]+')
  -- A message that has its own post in the app is answered there: no newer message may be merged with it.
  if redis.call('HEXISTS', args.messagePrefix .. id, 'post:0') == 1 then last = '+' .. seq end
  if mergeKey ~= '-' then mergeKey = mergeKey .. last end
  released[index] = {seq = seq, text = writeEntry(id, mergeKey, isOfGroup and entry.takenMs or releasedMs, seq, sealedOf(entry))}
  redis.call('HSET', args.messagePrefix .. id, 'state', 'accepted')
  if redis.call('PTTL', args.messagePrefix .. id) == -1 then redis.call('PEXPIRE', args.messagePrefix .. id, RECORD_LIFE_MS) end
end
for _, entry in ipairs(overtaken) do released[#released + 1] = entry end
table.sort(released, function(one, other) return one.seq < other.seq end)
for _ = 1, #waiting + #overtaken do redis.call('RPOP', keys.inbox) end
local at = 1
for _, text in ipairs(waiting) do
  local seq = readEntry(text).seq
  while released[at] and released[at].seq < seq do
    redis.call('RPUSH', keys.inbox, released[at].text)
    at = at + 1
  end
  redis.call('RPUSH', keys.inbox, text)
end
for index = at, #released do redis.call('RPUSH', keys.inbox, released[index].text) end
for _, entry in ipairs(held) do redis.call('LREM', keys.held, 1, entry.text) end
if #held > 0 and not isOfGroup then
  -- A list that does not expire is on legal hold (commit.lua).
  local onHold = redis.call('PTTL', keys.history) == -1 and redis.call('LRANGE', keys.history, 0, -1) or {}
  for _, turn in ipairs(onHold) do redis.call('RPUSH', keys.onHold, turn) end
  redis.call('DEL', keys.history)
  -- guard: link-is-told/cleared-summary
  redis.call('SET', keys.summary, '-' .. releasedMs, 'PX', CLEARED_MARK_MS)
end
redis.call('ZADD', keys.pending, releasedMs, args.conversationId)
return answer { count = #released, isTurnOpen = isOpen }
