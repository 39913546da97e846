-- Called right before an answer is pushed, which cannot be repeated: WeCom shows each push. Recorded before it is sent, so
-- that it is sent at most once despite crashes.
--
-- Constants  KEPT_MS
-- Keys       lease (hold-lease.lua)   pushing: number of the lease under which it was possibly sent
-- Arguments  number: of the caller's lease
-- Returns    'push' | 'left' (possibly sent before: it must not be sent again) | 'stale' (another process holds the connection)
if redis.call('HGET', keys.lease, 'number') ~= args.number then return 'stale' end
local left = redis.call('GET', keys.pushing)
if left and left ~= args.number then return 'left' end
redis.call('SET', keys.pushing, args.number, 'PX', KEPT_MS)
return 'push'
