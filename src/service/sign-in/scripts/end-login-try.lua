-- A password was right: forgives the name in this browser or at this address, and takes back what the try had added elsewhere.
-- KEYS: as in begin-login-try.lua. Sent twice it takes back one count too many, which does no harm.
-- Output: 'OK'
redis.call('DEL', KEYS[1])
for index = 2, 3 do
  if tonumber(redis.call('GET', KEYS[index]) or '0') > 0 then redis.call('DECR', KEYS[index]) end
end
return 'OK'
