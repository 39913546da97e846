-- Stops the answer that a person is being given, in one conversation or by the message that opened its thread, once.
--
-- Constants  STOP_CHANNEL, REMEMBER_MS (of the stop's own delivery)
-- KEYS  1 state of the conversation   2 record of the stop's own delivery
-- ARGV  1 owner (person id)   2 message key prefix   3 the delivery that began the thread, or ''
--       4 … handles of the visible messages that are meant; none means any
-- Returns how many were stopped
if redis.call('HSETNX', KEYS[2], 'state', 'final') == 0 then return 0 end
redis.call('PEXPIRE', KEYS[2], REMEMBER_MS)

local function isShownThere(record)
  if not ARGV[4] then return true end
  local part = 0
  while true do
    local handle = redis.call('HGET', record, 'post:' .. part)
    if not handle then return false end
    for index = 4, #ARGV do
      if handle == ARGV[index] or string.sub(handle, 1, #ARGV[index] + 1) == ARGV[index] .. '/' then return true end
    end
    part = part + 1
  end
end

local stopped = 0
for _, delivery in ipairs({ARGV[3], redis.call('HGET', KEYS[1], 'turn') or ''}) do
  local record = ARGV[2] .. delivery
  local asked = delivery == '' and {} or redis.call('HMGET', record, 'state', 'owner', 'conversation')
  -- Nobody stops another's question.
  if asked[1] == 'accepted' and asked[2] == ARGV[1] and isShownThere(record) then
    redis.call('HSET', record, 'stopped', '1')
    redis.call('PUBLISH', STOP_CHANNEL, asked[3] .. ':0:' .. ARGV[1] .. ':' .. delivery)
    stopped = stopped + 1
  end
end
return stopped
