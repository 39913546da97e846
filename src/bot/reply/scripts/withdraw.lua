-- Clears the note that a part may have been posted: its worker ends, and knows that nothing left. Safe to repeat.
--
-- keys  state   record: of the message   place: its posts (post.lua)
-- args  epoch   part: of the answer   deliveryId
-- Answers 1, or 0 when a newer epoch has taken over
if tonumber(redis.call('HGET', keys.state, 'epoch') or '0') ~= tonumber(args.epoch) then return 0 end
local field = 'post:' .. args.part
if redis.call('HGET', keys.record, field) == 'posting' then
  redis.call('HDEL', keys.record, field, 'since:' .. args.part, 'by:' .. args.part)
  redis.call('ZREM', keys.place, args.deliveryId .. ':' .. args.part)
end
return 1
