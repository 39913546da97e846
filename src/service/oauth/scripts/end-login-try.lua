-- Records a correct password: resets the count of the name in this browser or at this address, and takes back this attempt's other
-- counts. A repetition takes back one count too many, which does no harm.
--
-- Keys       own   ofName   ofAddress: as in begin-login-try.lua
redis.call('DEL', keys.own)
for _, counter in ipairs({keys.ofName, keys.ofAddress}) do
  if tonumber(redis.call('GET', counter) or '0') > 0 then redis.call('DECR', counter) end
end
