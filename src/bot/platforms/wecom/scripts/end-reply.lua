-- An answer stands whole, or never will: it is open no more. Safe to repeat.
--
-- Constants  ENDED_MS (so long a repeated delivery, or whoever waits for a later message, learns of it)
-- keys  replies (open-reply.lua)   ended   pushing (begin-push.lua)
-- args  id   how: 'sent' | 'refused'
redis.call('HDEL', keys.replies, args.id)
redis.call('SET', keys.ended, args.how, 'PX', ENDED_MS)
redis.call('DEL', keys.pushing)
