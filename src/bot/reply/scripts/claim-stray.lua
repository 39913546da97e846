-- Claims a message that no record owns, for removal. Afterwards no worker can record it as its own (post.lua). Safe to
-- repeat.
--
-- Constants  PLACE_LIFE_MS (of the posts of a place)
-- Keys       place: its posts (post.lua)
-- Arguments  handle   asker: delivery id and part of the caller   messagePrefix: of message keys
--            settledAfterMs: age from which no post can still arrive
-- Returns    'owned' (by a record) | 'doubtful' (it may belong to another turn, which is posting now) |
--            'mine' (no other part can have posted it) | 'nobody' (owner unknown, and no worker will ask for it)
local handle, nowMs = args.handle, redisNowMs()
local isDoubtful, verdict = false, 'mine'
local members = redis.call('ZRANGE', keys.place, 0, -1, 'WITHSCORES')
for index = 1, #members, 2 do
  local id, part = string.match(members[index], '^(%x+):(%d+)$')
  local kept = id and redis.call('HMGET', args.messagePrefix .. id, 'post:' .. part, 'left:' .. part)
  local known = kept and kept[1]
  if known and (known == handle or string.sub(known, 1, #handle + 1) == handle .. '/') then return 'owned' end
  -- A message that a part has abandoned is deleted by the worker that handles that part.
  for left in string.gmatch(kept and kept[2] or '', '%S+') do
    if left == handle or string.sub(left, 1, #handle + 1) == handle .. '/' then return 'owned' end
  end
  if known == 'posting' and members[index] ~= args.asker then
    verdict = 'nobody'
    isDoubtful = isDoubtful or nowMs - tonumber(members[index + 1]) < tonumber(args.settledAfterMs)
  end
end
if isDoubtful then return 'doubtful' end
redis.call('ZADD', keys.place, nowMs, 'stray:' .. handle)
if redis.call('PTTL', keys.place) == -1 then redis.call('PEXPIRE', keys.place, PLACE_LIFE_MS) end
return verdict
