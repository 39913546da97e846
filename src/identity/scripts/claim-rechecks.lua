-- Claims people whose re-check is due, by moving it on: if the claimer dies, another takes them after the claim's life.
-- KEYS: 1 index of re-checks; ARGV: 1 now (ms), 2 end of the claim (ms), 3 most
-- Output: the people claimed.
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, person in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[2], person) end
return due
