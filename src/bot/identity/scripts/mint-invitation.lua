-- Invites a chat person to sign in: creates an invitation, unless one is usable, the hourly limit is reached, or a link was
-- created since the caller checked. (After such a link no sign-in would follow, so a message held now would never be released.)
-- An invitation is usable if it is unopened and lives long enough, or if a browser is signing in with it at this moment.
-- Constants  MIN_LEFT_MS (minimum remaining life of an invitation that is shown again)
-- Keys       liveTicket: of the person   minted: invitations of the last hour   waiting: conversations that wait
--            ticket: the new invitation   link
-- Arguments  nowMs   minting: when to create one: 0 if none is usable, 1 always, 2 never   ticketHash   ticketLifeMs
--            hourMs   maxAnHour   person   sealed: the encrypted person   conversation: with messages to be held ('' for none)
--            waitingLifeMs, maxWaiting: of the conversations that wait   uselessLinkMs: creation time of the link that the caller
--            found unusable ('' for none)   madeOf: input of the token   ticketPrefix, transactionPrefix, quarantinePrefix: of those keys
-- Returns    kind and its values: 'invited' expiresAtMs | 'waiting' expiresAtMs, liveHash (of the usable one), liveMadeOf |
--            'too-many' retryAtMs | 'linked' linkedAtMs | 'full' maxWaiting (too many conversations wait) |
--            'spent' if this invitation was already created and has ended. Safe to repeat.
local now = tonumber(args.nowMs)
local link = redis.call('HMGET', keys.link, 'status', 'linkedAtMs')
local linkedAt = link[2] or '0'
if link[1] == 'active' and linkedAt ~= args.uselessLinkMs then return answer { kind = 'linked', linkedAtMs = linkedAt } end

if args.conversation ~= '' and redis.call('SISMEMBER', keys.waiting, args.conversation) == 0 then
  if redis.call('SCARD', keys.waiting) >= tonumber(args.maxWaiting) then return answer { kind = 'full', maxWaiting = args.maxWaiting } end
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
  local isUnopened = status == 'new' and untilMs and tonumber(untilMs) - now >= MIN_LEFT_MS
  -- A browser that never returned, or returned without a result, has no transaction or pending sign-in left.
  local isUnderWay = untilMs and browser and redis.call('EXISTS', args.transactionPrefix .. browser, args.quarantinePrefix .. browser) > 0
  if isUnopened or isUnderWay then
    return answer { kind = 'waiting', expiresAtMs = untilMs, liveHash = old, liveMadeOf = madeOf }
  end
end

redis.call('ZREMRANGEBYSCORE', keys.minted, '-inf', now - tonumber(args.hourMs))
-- guard: one-live-ticket/hourly-limit
if redis.call('ZCARD', keys.minted) >= tonumber(args.maxAnHour) then
  local oldest = redis.call('ZRANGE', keys.minted, 0, 0, 'WITHSCORES')
  return answer { kind = 'too-many', retryAtMs = string.format('%.0f', tonumber(oldest[2]) + tonumber(args.hourMs)) }
end

-- guard: one-live-ticket/replaces-old
if old then redis.call('DEL', args.ticketPrefix .. old) end
redis.call('HSET', keys.ticket, 'status', 'new', 'person', args.person, 'sealed', args.sealed, 'expiresAtMs', expiry, 'madeOf', args.madeOf)
redis.call('PEXPIRE', keys.ticket, args.ticketLifeMs)
redis.call('SET', keys.liveTicket, args.ticketHash, 'PX', args.ticketLifeMs)
redis.call('ZADD', keys.minted, now, args.ticketHash)
redis.call('PEXPIRE', keys.minted, args.hourMs)
return answer { kind = 'invited', expiresAtMs = expiry }
