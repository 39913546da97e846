-- Stops a person's running answer once, in one conversation or by the message that opened its thread.
--
-- Constants  STOP_CHANNEL, REMEMBER_MS (of the stop's own delivery)
-- Keys       state: of the conversation   stop: record of the stop's own delivery
-- Arguments  owner: person id   messagePrefix: of message keys   opener: the delivery that began the thread, or ''
--            chatOrder: position of the stop in the chat; '' where the platform gives none
--            shownAt: handles of the posts to stop; none means any
-- Returns    how many answers were stopped; -1 if the running answer may be meant but has no stored post yet, so that the
--            caller has to repeat the stop
if redis.call('HEXISTS', keys.stop, 'state') == 1 then return 0 end

local function isShownThere(record)
  if #args.shownAt == 0 then return true end
  local part = 0
  while true do
    local handle = redis.call('HGET', record, 'post:' .. part)
    if not handle then return false end
    for _, meant in ipairs(args.shownAt) do
      if handle == meant or string.sub(handle, 1, #meant + 1) == meant .. '/' then return true end
    end
    part = part + 1
  end
end

local stopped, mayBeShown = 0, false
for _, delivery in ipairs({args.opener, redis.call('HGET', keys.state, 'turn') or ''}) do
  local record = args.messagePrefix .. delivery
  local asked = delivery == '' and {} or redis.call('HMGET', record, 'state', 'owner', 'conversation', 'chatOrder')
  -- A stop that arrives late ends no question that was sent after it.
  local isLater = (tonumber(asked[4] or '') or 0) > (tonumber(args.chatOrder) or math.huge)
  -- Only the person who asked a question may stop it.
  if asked[1] == 'accepted' and asked[2] == args.owner and not isLater then
    if isShownThere(record) then
      redis.call('HSET', record, 'stopped', '1')
      tellTurn(asked[3], 0, args.owner, delivery)
      stopped = stopped + 1
    elseif redis.call('HEXISTS', record, 'post:0') == 0 then
      mayBeShown = true
    end
  end
end
if stopped == 0 and mayBeShown then return -1 end
redis.call('HSET', keys.stop, 'state', 'final')
redis.call('PEXPIRE', keys.stop, REMEMBER_MS)
return stopped
