-- Starts waiting for a typed code (SECURITY.md typed-code), or replaces the previous code. Extends the invitation, the pending
-- sign-in and the person's live invitation to the life of the code.
-- Keys       ticket: the invitation   quarantine: pending sign-in of the browser   liveTicket: of the person   code: of the new code
-- Arguments  nowMs   cookieHash   ticketHash   quarantineRead: as it was read   newQuarantine: with its new expiry   codeMac
--            serial, expiresAtMs, lifeMs: of the code   rememberedMs: how long an expired code is recognized   language
-- Returns    1, or 0 if nothing changed: the invitation has ended or belongs to another browser, or this or a later code is shown.
-- Safe to repeat: a repetition changes nothing, and the caller reads which code is shown.
local ticket = redis.call('HMGET', keys.ticket, 'status', 'expiresAtMs', 'browser', 'codeSerial')
if ticket[3] ~= args.cookieHash or tonumber(ticket[2] or '0') <= tonumber(args.nowMs) then return 0 end
local isNext = ticket[1] == 'awaiting_code' and tonumber(ticket[4]) + 1 == tonumber(args.serial)
if not isNext and not (ticket[1] == 'started' and args.serial == '1') then return 0 end
if redis.call('GET', keys.quarantine) ~= args.quarantineRead or redis.call('GET', keys.liveTicket) ~= args.ticketHash then return 0 end

redis.call('HSET', keys.ticket, 'status', 'awaiting_code', 'expiresAtMs', args.expiresAtMs, 'codeSerial', args.serial, 'codeMac', args.codeMac,
  'language', args.language)
local remembered = tonumber(args.lifeMs) + tonumber(args.rememberedMs)
redis.call('PEXPIRE', keys.ticket, remembered)
redis.call('PEXPIRE', keys.liveTicket, remembered)
redis.call('SET', keys.quarantine, args.newQuarantine, 'PX', args.lifeMs)
redis.call('SET', keys.code, args.ticketHash, 'PX', args.lifeMs)
return 1
