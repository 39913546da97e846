-- Begins to await a typed code (SECURITY.md typed-code), or puts a new code in the old one's place. Ticket, quarantine
-- and the person's live ticket go on for as long as the code does.
-- keys  ticket   quarantine: of the browser   liveTicket: of the person   code: the new code's ticket
-- args  nowMs   cookieHash   ticketHash   quarantineRead: as it was read   newQuarantine: with its new end   codeMac
--       serial, expiresAtMs, lifeMs: of the code   rememberedMs: how long its end is remembered after it   language
-- Answers 1, or 0 when nothing changed: the ticket is over or another browser's, or this or a later code is shown by now.
-- Safe to repeat: a repeat changes nothing, and the caller looks at what is shown.
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
