-- Closes the place of an answer that is completely shown or never will be. Safe to repeat.
--
-- Constants  ENDED_MS (how long a repeated delivery, or the sender of a later message, learns of it)
-- Keys       replies (open-reply.lua)   ended   pushing (begin-push.lua)
-- Arguments  id   how: 'sent' | 'refused'
redis.call('HDEL', keys.replies, args.id)
redis.call('SET', keys.ended, args.how, 'PX', ENDED_MS)
redis.call('DEL', keys.pushing)
