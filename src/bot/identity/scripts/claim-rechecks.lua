-- Claims people whose re-check is due by moving their due time forward. If the claiming process dies, another one claims them after that time.
-- Keys       rechecks
-- Arguments  nowMs   claimedUntilMs: with a fraction that identifies the claim   limit: maximum people
-- Returns    the claimed people. Safe to repeat: people claimed until exactly that moment were claimed by this call.
local mine = redis.call('ZRANGEBYSCORE', keys.rechecks, args.claimedUntilMs, args.claimedUntilMs)
if #mine > 0 then return mine end
local due = redis.call('ZRANGEBYSCORE', keys.rechecks, '-inf', args.nowMs, 'LIMIT', 0, args.limit)
for _, person in ipairs(due) do redis.call('ZADD', keys.rechecks, args.claimedUntilMs, person) end
return due
