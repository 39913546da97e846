-- Counts the messages of a conversation that wait for one person's sign-in. Changes nothing.
--
-- Keys       held
-- Arguments  messagePrefix: of message keys   person   oldestMs: maximum age at which a question in a group is still answered
-- Returns    inPrivate   inGroup   tooOldInGroup
local counts, nowMs = {inPrivate = 0, inGroup = 0, tooOldInGroup = 0}, redisNowMs()
for _, text in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
  local entry = readEntry(text)
  local record = redis.call('HMGET', args.messagePrefix .. entry.id, 'owner', 'heldIn')
  if not record[1] or record[1] == args.person then
    local isYoung = nowMs - entry.takenMs <= tonumber(args.oldestMs)
    local kind = record[2] ~= 'group' and 'inPrivate' or isYoung and 'inGroup' or 'tooOldInGroup'
    counts[kind] = counts[kind] + 1
  end
end
return answer(counts)
