-- Removes a person's link with its tokens, reverse index and re-check; once for each message that asks for it.
-- KEYS: 1 link, 2 index of re-checks, 3 what became of the message; ARGV: 1 person, 2 prefix of holder keys, 3 life of 3 (ms)
-- Output: 1 when there was a link, else 0. Safe to repeat: the same message is told the same, and a link that was made since stays.
local before = redis.call('GET', KEYS[3])
if before then return tonumber(before) end
local account = redis.call('HGET', KEYS[1], 'accountKey')
redis.call('SET', KEYS[3], account and '1' or '0', 'PX', ARGV[3])
redis.call('ZREM', KEYS[2], ARGV[1])
if not account then return 0 end
if redis.call('GET', ARGV[2] .. account) == ARGV[1] then redis.call('DEL', ARGV[2] .. account) end
redis.call('DEL', KEYS[1])
return 1
