-- Removes a person's link with its tokens, reverse index and re-check.
-- KEYS: 1 link, 2 index of re-checks; ARGV: 1 person, 2 prefix of holder keys
-- Output: 1 when there was a link, else 0. Safe to repeat.
local account = redis.call('HGET', KEYS[1], 'accountKey')
redis.call('ZREM', KEYS[2], ARGV[1])
if not account then return 0 end
if redis.call('GET', ARGV[2] .. account) == ARGV[1] then redis.call('DEL', ARGV[2] .. account) end
redis.call('DEL', KEYS[1])
return 1
