-- Stops the answer that a person is being given, in one conversation or by the message that opened its thread, once.
--
-- Constants  STOP_CHANNEL, REMEMBER_MS (of the stop's own delivery)
-- keys  state: of the conversation   stop: record of the stop's own delivery
-- args  owner: person id   messagePrefix: of message keys   opener: the delivery that began the thread, or ''
--       shownAt: handles of the visible messages that are meant; none means any
-- Answers how many were stopped
if redis.call('HSETNX', keys.stop, 'state', 'final') == 0 then return 0 end
redis.call('PEXPIRE', keys.stop, REMEMBER_MS)

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

local stopped = 0
for _, delivery in ipairs({args.opener, redis.call('HGET', keys.state, 'turn') or ''}) do
  local record = args.messagePrefix .. delivery
  local asked = delivery == '' and {} or redis.call('HMGET', record, 'state', 'owner', 'conversation')
  -- Nobody stops another's question.
  if asked[1] == 'accepted' and asked[2] == args.owner and isShownThere(record) then
    redis.call('HSET', record, 'stopped', '1')
    redis.call('PUBLISH', STOP_CHANNEL, asked[3] .. ':0:' .. args.owner .. ':' .. delivery)
    stopped = stopped + 1
  end
end
return stopped
