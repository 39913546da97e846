-- Releases the lease of the bot's connection and notifies the waiting processes. Safe to repeat.
--
-- Constants  LEASE_CHANNEL
-- Keys       lease (hold-lease.lua)
-- Arguments  holder: the caller
-- Returns    how many were notified; 0 if another process holds it
if redis.call('HGET', keys.lease, 'holder') ~= args.holder then return 0 end
redis.call('HDEL', keys.lease, 'holder')
return redis.call('PUBLISH', LEASE_CHANNEL, keys.lease)
