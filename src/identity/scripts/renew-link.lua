-- Gives a link and its reverse index their full life again, and sets its next re-check.
-- KEYS: 1 link, 2 index of re-checks; ARGV: 1 person, 2 life (ms), 3 next re-check (ms), 4 prefix of holder keys
-- Output: 1, or 0 when the link is gone (its place in the index goes too). Safe to repeat.
local account = redis.call('HGET', KEYS[1], 'accountKey')
if not account then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', ARGV[4] .. account, ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
