-- Appends `args.text` to both places. Answers what `keys.one` holds.
redis.call('APPEND', keys.one, args.text)
redis.call('APPEND', keys.other, args.text)
return redis.call('GET', keys.one)
