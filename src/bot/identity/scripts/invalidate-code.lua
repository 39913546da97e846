-- Ends the invitation whose code was typed in a group or by another person (SECURITY.md typed-code).
-- Keys       code: names its invitation   outcomes: of the sender's messages
-- Arguments  codeMac   ticketPrefix, quarantinePrefix, liveTicketPrefix: of those keys   messageId   outcome: of the message
--            outcomeLifeMs   spoiling: name of this call
-- Returns    ticketHash and sealedPerson of the invitation that this call ended, or neither. Safe to repeat: the code stays
-- known, and invalid, for the rest of its lifetime.
local hash = redis.call('GET', keys.code)
-- guard: typed-code/ends-in-group
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
