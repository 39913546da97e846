-- Says what waits in a conversation for one person's sign-in. Changes nothing.
--
-- KEYS  1 held
-- ARGV  1 message key prefix   2 the person   3 age from which a question in a group is not answered any more, ms
-- Returns {in a private chat, in a group, in a group but too old}
local counts, nowMs = {0, 0, 0}, redisNowMs()
for _, entry in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local id, atMs = string.match(entry, '^(%x+):[^:]+:(%d+):')
  local record = redis.call('HMGET', ARGV[1] .. id, 'owner', 'heldIn')
  if not record[1] or record[1] == ARGV[2] then
    local kind = record[2] ~= 'group' and 1 or nowMs - tonumber(atMs) <= tonumber(ARGV[3]) and 2 or 3
    counts[kind] = counts[kind] + 1
  end
end
return counts
