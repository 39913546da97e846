-- Stores a text that could not be delivered for the person's next private reply, once per message. If the list is full, the
-- oldest text is dropped. Safe to repeat.
--
-- Keys       leftovers
-- Arguments  deliveryId   sealed: the text   limit   lifeMs
-- Returns    how many are kept
local record = args.deliveryId .. ':' .. args.sealed
for _, kept in ipairs(redis.call('LRANGE', keys.leftovers, 0, -1)) do
  if string.sub(kept, 1, #args.deliveryId + 1) == args.deliveryId .. ':' then record = nil end
end
if record then redis.call('RPUSH', keys.leftovers, record) end
redis.call('LTRIM', keys.leftovers, -args.limit, -1)
redis.call('PEXPIRE', keys.leftovers, args.lifeMs)
return redis.call('LLEN', keys.leftovers)
