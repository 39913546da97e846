-- Stores a person's display name with a valid invitation. Safe to repeat.
--
-- Keys       ticket: the invitation
-- Arguments  sealedName
-- Returns    1, or 0 if the invitation has ended
if redis.call('EXISTS', keys.ticket) == 0 then return 0 end
redis.call('HSET', keys.ticket, 'sealedName', args.sealedName)
return 1
