-- Ends an invitation that was refused: it cannot be used again, and the person's next message creates a new one.
-- Keys       ticket: the invitation   liveTicket: of the person   quarantine: pending sign-in of the browser
-- Arguments  status: the new one   ticketHash   closing: name of this call
-- Returns    1 if it was open, else 0 (so that the person is notified once). Safe to repeat.
local status, closing = unpack(redis.call('HMGET', keys.ticket, 'status', 'closing'))
redis.call('DEL', keys.quarantine)
if closing == args.closing then return 1 end
if status ~= 'new' and status ~= 'started' and status ~= 'awaiting_code' then return 0 end
redis.call('HSET', keys.ticket, 'status', args.status, 'closing', args.closing)
if redis.call('GET', keys.liveTicket) == args.ticketHash then redis.call('DEL', keys.liveTicket) end
return 1
