-- KEYS: 1 a string. ARGV: 1 its new value. Output: the value's length in bytes.
redis.call('SET', KEYS[1], ARGV[1])
return #ARGV[1]
