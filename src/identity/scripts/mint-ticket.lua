-- Asks a chat person to sign in: mints a link ticket, unless one is of use, the hour's share is used up, or a link was made since
-- the caller looked: then nobody would make one again, and whatever is held now would wait for ever.
-- Of use is one that nobody has opened and that lives for a while, or with which a browser is signing in at this moment.
-- Constants  LEAST_LEFT_MS (so long a link must live to be shown once more)
-- KEYS: 1 live ticket of the person, 2 tickets minted in the last hour, 3 conversations that wait, 4 the new ticket, 5 link
-- ARGV: 1 now (ms), 2 whether a link is minted: 0 if none is of use, 1 in any case, 2 never, 3 ticket hash, 4 ticket life (ms), 5 hour (ms), 6 most in an hour, 7 prefix of
--       ticket keys, 8 person, 9 sealed ticket, 10 conversation whose messages are to be held ('' for none),
--       11 life of 3 (ms), 12 most in 3, 13 when the link was made that the caller found to be of no use ('' for none),
--       14 what the ticket is made of, 15 prefix of transaction keys, 16 prefix of quarantine keys
-- Output: {'invited', expiry ms} | {'waiting', expiry ms, hash of the ticket that lives, what it is made of} | {'too-many', retry ms} | {'linked', when it was made} |
--         {'full', most} when too many conversations wait | {'spent'} when this very ticket was minted and is over.
--         Safe to repeat.
local now = tonumber(ARGV[1])
local link = redis.call('HMGET', KEYS[5], 'status', 'linkedAtMs')
local linkedAt = link[2] or '0'
if link[1] == 'active' and linkedAt ~= ARGV[13] then return { 'linked', linkedAt } end

if ARGV[10] ~= '' and redis.call('SISMEMBER', KEYS[3], ARGV[10]) == 0 then
  if redis.call('SCARD', KEYS[3]) >= tonumber(ARGV[12]) then return { 'full', ARGV[12] } end
  redis.call('SADD', KEYS[3], ARGV[10])
end
if ARGV[10] ~= '' then redis.call('PEXPIRE', KEYS[3], ARGV[11]) end
if ARGV[2] == '2' then return { 'waiting', '0', '', '' } end

local function openUntil(hash)
  local ticket = redis.call('HMGET', ARGV[7] .. hash, 'status', 'expiresAtMs')
  local isOpen = ticket[1] == 'new' or ticket[1] == 'started' or ticket[1] == 'awaiting_code'
  return isOpen and tonumber(ticket[2]) > now and ticket[2]
end
if redis.call('ZSCORE', KEYS[2], ARGV[3]) then
  local untilMs = openUntil(ARGV[3])
  if untilMs then return { 'invited', untilMs } end
  return { 'spent' }
end

local expiry = string.format('%.0f', now + tonumber(ARGV[4]))
local old = redis.call('GET', KEYS[1])
if old and ARGV[2] == '0' then
  local untilMs = openUntil(old)
  local status, browser, madeOf = unpack(redis.call('HMGET', ARGV[7] .. old, 'status', 'browser', 'madeOf'))
  local isUnopened = status == 'new' and untilMs and tonumber(untilMs) - now >= LEAST_LEFT_MS
  -- A browser that was sent away and came back with nothing, or never came back, has left it to nobody.
  local isUnderWay = untilMs and browser and redis.call('EXISTS', ARGV[15] .. browser, ARGV[16] .. browser) > 0
  if isUnopened or isUnderWay then return { 'waiting', untilMs, old, madeOf or '' } end
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - tonumber(ARGV[5]))
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then
  local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return { 'too-many', string.format('%.0f', tonumber(oldest[2]) + tonumber(ARGV[5])) }
end

if old then redis.call('DEL', ARGV[7] .. old) end
redis.call('HSET', KEYS[4], 'status', 'new', 'person', ARGV[8], 'sealed', ARGV[9], 'expiresAtMs', expiry, 'madeOf', ARGV[14])
redis.call('PEXPIRE', KEYS[4], ARGV[4])
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
redis.call('ZADD', KEYS[2], now, ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return { 'invited', expiry }
