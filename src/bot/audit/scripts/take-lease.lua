-- Takes or renews the right to change the moved part of the audit record. Safe to repeat: the holder keeps its epoch.
-- A caller that must not wait for long announces itself, and the holder gives way at its next call.
-- Keys       lease   epochs: counter of leases   wanted: name of a caller that must not wait
-- Arguments  name: of the caller   lifeMs   isUrgent
-- Returns    the epoch of the caller's lease; 0 if another process has it
local holder = redis.call('HGET', keys.lease, 'name')
if args.isUrgent == '1' then redis.call('SET', keys.wanted, args.name, 'PX', args.lifeMs) end
local wanted = redis.call('GET', keys.wanted)
if wanted and wanted ~= args.name then
  if holder == args.name then redis.call('DEL', keys.lease) end
  return 0
end
-- guard: audit-record/one-holder
if holder and holder ~= args.name then return 0 end
if not holder then redis.call('HSET', keys.lease, 'name', args.name, 'epoch', redis.call('INCR', keys.epochs)) end
redis.call('PEXPIRE', keys.lease, args.lifeMs)
return tonumber(redis.call('HGET', keys.lease, 'epoch'))
