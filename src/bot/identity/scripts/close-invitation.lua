-- Ends a ticket that was refused: it can be used no more, and the person's next message mints a new one.
-- keys  ticket   liveTicket: of the person   quarantine: of the browser
-- args  status: the new one   ticketHash   closing: name of this closing
-- Answers 1 when it was open, else 0 (so that people are told once). Safe to repeat.
local status, closing = unpack(redis.call('HMGET', keys.ticket, 'status', 'closing'))
redis.call('DEL', keys.quarantine)
if closing == args.closing then return 1 end
if status ~= 'new' and status ~= 'started' and status ~= 'awaiting_code' then return 0 end
redis.call('HSET', keys.ticket, 'status', args.status, 'closing', args.closing)
if redis.call('GET', keys.liveTicket) == args.ticketHash then redis.call('DEL', keys.liveTicket) end
return 1
