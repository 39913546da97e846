-- Claims people whose re-check is due, by moving it on: if the claimer dies, another takes them after the claim's life.
-- KEYS: 1 index of re-checks; ARGV: 1 now (ms), 2 end of the claim (ms, with a fraction that names it), 3 most
-- Output: the people claimed. Safe to repeat: who is claimed until that very moment was claimed by this call.
local mine = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], ARGV[2])
if #mine > 0 then return mine end
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, person in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[2], person) end
return due
