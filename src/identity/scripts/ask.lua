-- Asks a chat person to sign in: mints a link ticket, unless one lives or the hour's share is used up.
-- KEYS: 1 live ticket of the person, 2 tickets minted in the last hour, 3 conversations that wait, 4 the new ticket
-- ARGV: 1 now (ms), 2 force (1 or 0), 3 ticket hash, 4 ticket life (ms), 5 hour (ms), 6 most in an hour, 7 prefix of
--       ticket keys, 8 person, 9 sealed ticket, 10 conversation, 11 life of 3 (ms), 12 most in 3, 13 message that asks ('' = none)
-- Output: {'invited', expiry ms} | {'waiting', expiry ms} | {'too-many', retry ms}. Safe to repeat.
local now = tonumber(ARGV[1])
if redis.call('SCARD', KEYS[3]) < tonumber(ARGV[12]) then redis.call('SADD', KEYS[3], ARGV[10]) end
redis.call('PEXPIRE', KEYS[3], ARGV[11])

local expiry = string.format('%.0f', now + tonumber(ARGV[4]))
if redis.call('ZSCORE', KEYS[2], ARGV[3]) then return { 'invited', expiry } end

local old = redis.call('GET', KEYS[1])
local ticket = old and redis.call('HMGET', ARGV[7] .. old, 'status', 'expiresAtMs', 'askedBy') or {}
-- The worker that asked for this very message died before it showed the link, or whoever got it is shown the new one.
local isUnseen = ticket[1] == 'new' and ARGV[13] ~= '' and ticket[3] == ARGV[13]
if isUnseen then redis.call('ZREM', KEYS[2], old) end
if ARGV[2] == '0' and not isUnseen then
  local isOpen = ticket[1] == 'new' or ticket[1] == 'started' or ticket[1] == 'awaiting_code'
  if isOpen and tonumber(ticket[2]) > now then return { 'waiting', ticket[2] } end
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[5]))
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return { 'too-many', string.format('%.0f', tonumber(oldest[2]) + tonumber(ARGV[5])) }
end

if old then redis.call('DEL', ARGV[7] .. old) end
redis.call('HSET', KEYS[4], 'status', 'new', 'person', ARGV[8], 'sealed', ARGV[9], 'expiresAtMs', expiry, 'askedBy', ARGV[13])
redis.call('PEXPIRE', KEYS[4], ARGV[4])
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
redis.call('ZADD', KEYS[2], now, ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return { 'invited', expiry }
