-- Clears the note that a part may have been posted. Called by a worker that ends and knows that no post was sent. Safe to
-- repeat.
--
-- Keys       state   record: of the message   place: its posts (post.lua)
-- Arguments  epoch   part: of the answer   deliveryId
-- Returns    1, or 0 when a newer epoch has taken over
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return 0 end
local field = 'post:' .. args.part
if redis.call('HGET', keys.record, field) == 'posting' then
  redis.call('HDEL', keys.record, field, 'since:' .. args.part, 'by:' .. args.part)
  redis.call('ZREM', keys.place, args.deliveryId .. ':' .. args.part)
end
return 1
