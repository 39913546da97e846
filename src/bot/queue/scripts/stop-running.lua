-- Stops a person's running answer once, in one conversation or by the message that opened its thread.
--
-- Constants  STOP_CHANNEL, REMEMBER_MS (of the stop's own delivery)
-- Keys       state: of the conversation   stop: record of the stop's own delivery
-- Arguments  owner: person id   messagePrefix: of message keys   opener: the delivery that began the thread, or ''
--            chatOrder: position of the stop in the chat; '' where the platform gives none
--            shownAt: handles of the posts to stop; none means any
-- Returns    how many answers were stopped, or will be if one of their posts that is not stored yet turns out to be meant
if redis.call('HEXISTS', keys.stop, 'state') == 1 then return 0 end

-- A post is visible before its handle is stored: the press then waits in the record, and post.lua compares it.
local function whetherShown(record)
  if #args.shownAt == 0 then return 'shown' end
  local part, found = 0, 'elsewhere'
  while true do
    local handle = redis.call('HGET', record, 'post:' .. part)
    if not handle then return part == 0 and 'unknown' or found end
    if isMeantPost(handle, args.shownAt) then return 'shown' end
    if handle == 'posting' then found = 'unknown' end
    part = part + 1
  end
end

local stopped = 0
for _, delivery in ipairs({args.opener, redis.call('HGET', keys.state, 'turn') or ''}) do
  local record = args.messagePrefix .. delivery
  local asked = delivery == '' and {} or redis.call('HMGET', record, 'state', 'owner', 'conversation', 'chatOrder')
  -- A stop that arrives late ends no question that was sent after it.
  local isLater = (tonumber(asked[4] or '') or 0) > (tonumber(args.chatOrder) or math.huge)
  -- Only the person who asked a question may stop it.
  if asked[1] == 'accepted' and asked[2] == args.owner and not isLater then
    local found = whetherShown(record)
    if found == 'shown' then stopMessage(record, asked[3], args.owner, delivery) end
    if found == 'unknown' then redis.call('HSET', record, 'stopAt', table.concat(args.shownAt, ' ')) end
    if found ~= 'elsewhere' then stopped = stopped + 1 end
  end
end
redis.call('HSET', keys.stop, 'state', 'final')
redis.call('PEXPIRE', keys.stop, REMEMBER_MS)
return stopped
