-- Asked right before an answer is pushed, which cannot be repeated: WeCom shows each push. Noted before it leaves, so that it
-- leaves once, whoever dies then.
--
-- Constants  KEPT_MS
-- keys  lease (hold-lease.lua)   pushing: number of the lease under which it left or was about to
-- args  number: of the asker's lease
-- Answers 'push' | 'left' (it may have left before: it does not leave again) | 'stale' (another one holds the connection)
if redis.call('HGET', keys.lease, 'number') ~= args.number then return 'stale' end
local left = redis.call('GET', keys.pushing)
if left and left ~= args.number then return 'left' end
redis.call('SET', keys.pushing, args.number, 'PX', KEPT_MS)
return 'push'
