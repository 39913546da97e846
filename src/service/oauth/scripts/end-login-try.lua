-- A password was right: forgives the name in this browser or at this address, and takes back what the try had added elsewhere.
-- keys  as in begin-login-try.lua. Sent twice it takes back one count too many, which does no harm.
redis.call('DEL', keys.own)
for _, counter in ipairs({keys.ofName, keys.ofAddress}) do
  if tonumber(redis.call('GET', counter) or '0') > 0 then redis.call('DECR', counter) end
end
