-- Called right before an answer is pushed, which cannot be repeated: WeCom shows each push. Recorded before it is sent, so
-- that it is sent at most once despite crashes.
--
-- Constants  KEPT_MS
-- Keys       lease (hold-lease.lua)   pushing: number of the lease under which it was sent; 'b' before it: only begun (note-push.lua)
-- Arguments  number: of the caller's lease
-- Returns    'push' | 'left' (sent before: it must not be sent again) | 'stale' (another process holds the connection)
if redis.call('HGET', keys.lease, 'number') ~= args.number then return 'stale' end
local left = redis.call('GET', keys.pushing)
-- What an earlier holder only began was not sent: it notes the sending together with it, and without the lease it sends nothing.
if left and left ~= args.number and string.sub(left, 1, 1) ~= 'b' then return 'left' end
redis.call('SET', keys.pushing, 'b' .. args.number, 'PX', KEPT_MS)
return 'push'
