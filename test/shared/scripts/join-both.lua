-- Appends `args.text` to both keys. Returns the value of `keys.one`.
redis.call('APPEND', keys.one, args.text)
redis.call('APPEND', keys.other, args.text)
return redis.call('GET', keys.one)
