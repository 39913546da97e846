-- Sets `keys.place`. Returns the length of its value in bytes.
redis.call('SET', keys.place, args.value)
return #args.value
