-- Ends the ticket whose code was seen where it must not be: in a group, or with another person (SECURITY.md typed-code).
-- keys  code: its ticket   outcomes: what became of the sender's messages
-- args  codeMac   ticketPrefix, quarantinePrefix, liveTicketPrefix: of those keys   messageId   outcome: what becomes of it
--       outcomeLifeMs   spoiling: name of this spoiling
-- Answers ticketHash and sealedPerson of the ticket that ended now, or neither. Safe to repeat: the code is known, and of no
-- use, for as long as it would have lived.
local hash = redis.call('GET', keys.code)
if not hash then return answer {} end
local ticket = redis.call('HMGET', args.ticketPrefix .. hash, 'status', 'codeMac', 'browser', 'person', 'sealed', 'spoiling')
if ticket[6] == args.spoiling then return answer { ticketHash = hash, sealedPerson = ticket[5] } end
if ticket[1] ~= 'awaiting_code' or ticket[2] ~= args.codeMac then return answer {} end
redis.call('HSET', args.ticketPrefix .. hash, 'status', 'abused', 'spoiling', args.spoiling)
redis.call('DEL', args.quarantinePrefix .. ticket[3])
if redis.call('GET', args.liveTicketPrefix .. ticket[4]) == hash then redis.call('DEL', args.liveTicketPrefix .. ticket[4]) end
redis.call('HSETNX', keys.outcomes, args.messageId, args.outcome)
redis.call('PEXPIRE', keys.outcomes, args.outcomeLifeMs)
return answer { ticketHash = hash, sealedPerson = ticket[5] }
