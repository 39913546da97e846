-- A password was right: forgives the name at this address, takes back what the try had added elsewhere, and remembers the place.
-- KEYS: as in begin-login-try.lua
-- ARGV: 1 counters that the try had added to (1 or 3), 2 time to remember the place (ms)
-- Output: 'OK'
redis.call('DEL', KEYS[1])
for index = 2, tonumber(ARGV[1]) do
  if tonumber(redis.call('GET', KEYS[index]) or '0') > 0 then redis.call('DECR', KEYS[index]) end
end
return redis.call('SET', KEYS[4], '1', 'PX', ARGV[2])
