-- Notes a name in a ticket that lives: `args.sealedName`. Answers 1 | 0. Safe to repeat.
if redis.call('EXISTS', keys.ticket) == 0 then return 0 end
redis.call('HSET', keys.ticket, 'sealedName', args.sealedName)
return 1
