-- Records where a message is answered over the connection, before it is accepted, for the next holder of the connection.
-- Also used for a later message, of which the holder is notified at once. Safe to repeat.
--
-- Constants  KEPT_MS, REPLY_CHANNEL
-- Keys       replies: hash by id of a place's opening time, ms, and the sealed place   ended: how the answer ended, if it did
-- Arguments  id   sealed   isNotified: the holder of the connection must check it now
-- Returns    state: 'open' | 'known' (and the known one stays) | 'ended', with ended: how
local ended = redis.call('GET', keys.ended)
if ended then return answer { state = 'ended', ended = ended } end
local isNew = redis.call('HSETNX', keys.replies, args.id, redisNowMs() .. ' ' .. args.sealed) == 1
redis.call('PEXPIRE', keys.replies, KEPT_MS)
if args.isNotified == '1' then redis.call('PUBLISH', REPLY_CHANNEL, args.id) end
return answer { state = isNew and 'open' or 'known' }
