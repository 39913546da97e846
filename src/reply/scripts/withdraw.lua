-- Takes back that a part of an answer may have been posted: its worker ends, and knows that nothing left. Safe to repeat.
--
-- KEYS  1 state   2 message record   3 posts of the place (post.lua)
-- ARGV  1 epoch   2 part of the answer   3 delivery id
-- Returns 1, or 0 when a newer epoch has taken over
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return 0 end
local field = 'post:' .. ARGV[2]
if redis.call('HGET', KEYS[2], field) == 'posting' then
  redis.call('HDEL', KEYS[2], field, 'since:' .. ARGV[2], 'by:' .. ARGV[2])
  redis.call('ZREM', KEYS[3], ARGV[3] .. ':' .. ARGV[2])
end
return 1
