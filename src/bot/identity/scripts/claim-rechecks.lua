-- Claims people whose re-check is due, by moving it on: if the claimer dies, another takes them after the claim's life.
-- args  nowMs   claimedUntilMs: with a fraction that names the claim   most
-- Answers the people claimed. Safe to repeat: who is claimed until that very moment was claimed by this call.
local mine = redis.call('ZRANGEBYSCORE', keys.rechecks, args.claimedUntilMs, args.claimedUntilMs)
if #mine > 0 then return mine end
local due = redis.call('ZRANGEBYSCORE', keys.rechecks, '-inf', args.nowMs, 'LIMIT', 0, args.most)
for _, person in ipairs(due) do redis.call('ZADD', keys.rechecks, args.claimedUntilMs, person) end
return due
