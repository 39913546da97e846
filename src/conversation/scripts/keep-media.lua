-- Keeps one prepared image, unless the person whose it is has had their share kept already.
-- keys  image   bytes: kept for the person
-- args  sealed: the image   lifeMs   mostBytes: of a person
-- Answers 1 when it is kept, else 0. Safe to repeat: what is kept already costs nothing.
local isThere = redis.call('EXISTS', keys.image) == 1
local used = tonumber(redis.call('GET', keys.bytes) or '0')
if not isThere then
  if used + #args.sealed > tonumber(args.mostBytes) then return 0 end
  if redis.call('INCRBY', keys.bytes, #args.sealed) == #args.sealed then redis.call('PEXPIRE', keys.bytes, args.lifeMs) end
end
redis.call('SET', keys.image, args.sealed, 'PX', args.lifeMs)
return 1
