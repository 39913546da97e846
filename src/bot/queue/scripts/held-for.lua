-- Says what waits in a conversation for one person's sign-in. Changes nothing.
--
-- keys  held
-- args  messagePrefix: of message keys   person   oldestMs: age from which a question in a group is not answered any more
-- Answers inPrivate   inGroup   tooOldInGroup
local counts, nowMs = {inPrivate = 0, inGroup = 0, tooOldInGroup = 0}, redisNowMs()
for _, entry in ipairs(redis.call('LRANGE', keys.held, 0, -1)) do
  local id, atMs = string.match(entry, '^(%x+):[^:]+:(%d+):')
  local record = redis.call('HMGET', args.messagePrefix .. id, 'owner', 'heldIn')
  if not record[1] or record[1] == args.person then
    local isYoung = nowMs - tonumber(atMs) <= tonumber(args.oldestMs)
    local kind = record[2] ~= 'group' and 'inPrivate' or isYoung and 'inGroup' or 'tooOldInGroup'
    counts[kind] = counts[kind] + 1
  end
end
return answer(counts)
