-- Asks a chat person to sign in: mints a link ticket, unless one is of use, the hour's share is used up, or a link was made since
-- the caller looked: then nobody would make one again, and whatever is held now would wait for ever.
-- Of use is one that nobody has opened and that lives for a while, or with which a browser is signing in at this moment.
-- Constants  LEAST_LEFT_MS (so long a link must live to be shown once more)
-- keys  liveTicket: of the person   minted: tickets of the last hour   waiting: conversations that wait   ticket: the new one   link
-- args  nowMs   minting: whether a link is minted: 0 if none is of use, 1 in any case, 2 never   ticketHash   ticketLifeMs
--       hourMs   mostAnHour   person   sealed: the ticket   conversation: whose messages are to be held ('' for none)
--       waitingLifeMs, mostWaiting: of the conversations that wait   uselessLinkMs: when the link was made that the caller found
--       to be of no use ('' for none)   madeOf: what the ticket is made of   ticketPrefix, transactionPrefix, quarantinePrefix: of those keys
-- Answers kind, and what belongs to it: 'invited' expiresAtMs | 'waiting' expiresAtMs, liveHash (of the ticket that lives), liveMadeOf |
--         'too-many' retryAtMs | 'linked' linkedAtMs | 'full' most, when too many conversations wait |
--         'spent' when this very ticket was minted and is over. Safe to repeat.
local now = tonumber(args.nowMs)
local link = redis.call('HMGET', keys.link, 'status', 'linkedAtMs')
local linkedAt = link[2] or '0'
if link[1] == 'active' and linkedAt ~= args.uselessLinkMs then return answer { kind = 'linked', linkedAtMs = linkedAt } end

if args.conversation ~= '' and redis.call('SISMEMBER', keys.waiting, args.conversation) == 0 then
  if redis.call('SCARD', keys.waiting) >= tonumber(args.mostWaiting) then return answer { kind = 'full', most = args.mostWaiting } end
  redis.call('SADD', keys.waiting, args.conversation)
end
if args.conversation ~= '' then redis.call('PEXPIRE', keys.waiting, args.waitingLifeMs) end
if args.minting == '2' then return answer { kind = 'waiting' } end

local function openUntil(hash)
  local ticket = redis.call('HMGET', args.ticketPrefix .. hash, 'status', 'expiresAtMs')
  local isOpen = ticket[1] == 'new' or ticket[1] == 'started' or ticket[1] == 'awaiting_code'
  return isOpen and tonumber(ticket[2]) > now and ticket[2]
end
if redis.call('ZSCORE', keys.minted, args.ticketHash) then
  local untilMs = openUntil(args.ticketHash)
  if untilMs then return answer { kind = 'invited', expiresAtMs = untilMs } end
  return answer { kind = 'spent' }
end

local expiry = string.format('%.0f', now + tonumber(args.ticketLifeMs))
local old = redis.call('GET', keys.liveTicket)
if old and args.minting == '0' then
  local untilMs = openUntil(old)
  local status, browser, madeOf = unpack(redis.call('HMGET', args.ticketPrefix .. old, 'status', 'browser', 'madeOf'))
  local isUnopened = status == 'new' and untilMs and tonumber(untilMs) - now >= LEAST_LEFT_MS
  -- A browser that was sent away and came back with nothing, or never came back, has left it to nobody.
  local isUnderWay = untilMs and browser and redis.call('EXISTS', args.transactionPrefix .. browser, args.quarantinePrefix .. browser) > 0
  if isUnopened or isUnderWay then
    return answer { kind = 'waiting', expiresAtMs = untilMs, liveHash = old, liveMadeOf = madeOf }
  end
end

redis.call('ZREMRANGEBYSCORE', keys.minted, '-inf', now - tonumber(args.hourMs))
if redis.call('ZCARD', keys.minted) >= tonumber(args.mostAnHour) then
  local oldest = redis.call('ZRANGE', keys.minted, 0, 0, 'WITHSCORES')
  return answer { kind = 'too-many', retryAtMs = string.format('%.0f', tonumber(oldest[2]) + tonumber(args.hourMs)) }
end

if old then redis.call('DEL', args.ticketPrefix .. old) end
redis.call('HSET', keys.ticket, 'status', 'new', 'person', args.person, 'sealed', args.sealed, 'expiresAtMs', expiry, 'madeOf', args.madeOf)
redis.call('PEXPIRE', keys.ticket, args.ticketLifeMs)
redis.call('SET', keys.liveTicket, args.ticketHash, 'PX', args.ticketLifeMs)
redis.call('ZADD', keys.minted, now, args.ticketHash)
redis.call('PEXPIRE', keys.minted, args.hourMs)
return answer { kind = 'invited', expiresAtMs = expiry }
