-- Notes a name in a ticket that lives. KEYS: 1 ticket; ARGV: 1 sealed name. Output: 1 | 0. Safe to repeat.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'sealedName', ARGV[1])
return 1
