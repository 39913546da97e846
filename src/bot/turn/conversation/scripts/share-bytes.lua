-- Takes bytes out of a share that many have together, unless it is used up.
-- args  bytes: how many   lifeMs: of the count   mostBytes
-- Answers 1 when they are taken, else 0. Sent twice, it takes them twice: never more than the share.
local used = tonumber(redis.call('GET', keys.taken) or '0')
if used + args.bytes > tonumber(args.mostBytes) then return 0 end
redis.call('INCRBY', keys.taken, args.bytes)
if redis.call('PTTL', keys.taken) < 0 then redis.call('PEXPIRE', keys.taken, args.lifeMs) end
return 1
