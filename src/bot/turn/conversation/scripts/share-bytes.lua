-- Takes bytes from a shared budget, unless it is used up.
-- Keys       taken
-- Arguments  bytes: number of bytes   lifeMs: of the count   maxBytes
-- Returns    1 if the bytes were taken, else 0. If repeated, the bytes are taken twice, but never beyond the budget.
local used = tonumber(redis.call('GET', keys.taken) or '0')
if used + args.bytes > tonumber(args.maxBytes) then return 0 end
redis.call('INCRBY', keys.taken, args.bytes)
if redis.call('PTTL', keys.taken) < 0 then redis.call('PEXPIRE', keys.taken, args.lifeMs) end
return 1
