-- Puts the messages of a dead letter back into their inbox as one new turn, behind the messages that wait there.
-- Safe to repeat: a letter is replayed once.
--
-- Constants  REMEMBER_MS (life of a message record), MAX_INBOX (maximum waiting messages of a conversation)
-- Keys       letter   state   inbox   pending   records: of the messages
-- Arguments  conversationId   touchedAgoMs: age of the new touch, so that the sweeper wakes the conversation soon
--            messages: for each record: delivery id, merge key, sealed message, acceptance time, sealed target ('' = the platform polls)
-- Returns    'replayed' | 'unknown' (the letter has expired) | 'again' (it was replayed before) | 'full'
local letter = redis.call('HMGET', keys.letter, 'atMs', 'replayedMs', 'owner', 'later')
if not letter[1] then return 'unknown' end
-- guard: accept-once/replayed-letter
if letter[2] then return 'again' end
if redis.call('LLEN', keys.inbox) + #keys.records > MAX_INBOX then return 'full' end
local nowMs = redisNowMs()
local first = tonumber(redis.call('HGET', keys.state, 'seq') or '0') + 1
for index, record in ipairs(keys.records) do
  local id, mergeKey, sealed, atMs, target = unpack(args.messages, index * 5 - 4, index * 5)
  -- The messages of the turn merge with each other and with no other message.
  if mergeKey ~= '-' then mergeKey = string.match(mergeKey, '^[^+]+') .. '+' .. first end
  redis.call('RPUSH', keys.inbox, writeEntry(id, mergeKey, nowMs, first + index - 1, sealed))
  redis.call('HSET', record, 'state', 'accepted', 'conversation', args.conversationId, 'owner', letter[3], 'atMs', atMs,
    'history', redisHistory(), unpack(letter[4] == '1' and {'later', '1'} or {}))
  -- The live reply of a platform that polls has ended with the apology.
  if target == '' then redis.call('HSET', record, 'handedOver', '1') else redis.call('HSET', record, 'target', target) end
  redis.call('PEXPIRE', record, REMEMBER_MS)
end
redis.call('HSET', keys.state, 'seq', first + #keys.records - 1)
redis.call('ZADD', keys.pending, 'NX', nowMs - args.touchedAgoMs, args.conversationId)
redis.call('HSET', keys.letter, 'replayedMs', nowMs)
return 'replayed'
