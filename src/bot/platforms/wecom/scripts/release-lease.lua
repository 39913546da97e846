-- Gives the lease of the bot's connection back and tells those that wait for it. Safe to repeat.
--
-- Constants  LEASE_CHANNEL
-- keys  lease (hold-lease.lua)
-- args  holder: who gives it back
-- Answers how many were told; 0 where it is another one's by now
if redis.call('HGET', keys.lease, 'holder') ~= args.holder then return 0 end
redis.call('HDEL', keys.lease, 'holder')
return redis.call('PUBLISH', LEASE_CHANNEL, keys.lease)
