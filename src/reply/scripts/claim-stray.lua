-- Claims a message that no record owns, so that it can be taken away: from now on no worker can note it as its own (post.lua).
-- Safe to repeat.
--
-- Constants  PLACE_LIFE_MS (of the posts of a place)
-- KEYS  1 posts of the place (post.lua)
-- ARGV  1 handle   2 delivery id and part of whoever asks   3 message key prefix   4 age from which no post is under way any more, ms
-- Returns 'owned' (some record's) | 'doubtful' (it may be another turn's, which is posting now) |
--         'mine' (nobody else can have posted it) | 'nobody' (whose it was cannot be said; nobody will ask for it)
local handle, nowMs = ARGV[1], redisNowMs()
local isDoubtful, verdict = false, 'mine'
local members = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for index = 1, #members, 2 do
  local id, part = string.match(members[index], '^(%x+):(%d+)$')
  local known = id and redis.call('HGET', ARGV[3] .. id, 'post:' .. part)
  if known and (known == handle or string.sub(known, 1, #handle + 1) == handle .. '/') then return 'owned' end
  if known == 'posting' and members[index] ~= ARGV[2] then
    verdict = 'nobody'
    isDoubtful = isDoubtful or nowMs - tonumber(members[index + 1]) < tonumber(ARGV[4])
  end
end
if isDoubtful then return 'doubtful' end
redis.call('ZADD', KEYS[1], nowMs, 'stray:' .. handle)
if redis.call('PTTL', KEYS[1]) == -1 then redis.call('PEXPIRE', KEYS[1], PLACE_LIFE_MS) end
return verdict
