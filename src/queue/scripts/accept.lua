-- Stores one message, once: remembers its delivery, appends it to the inbox, marks the conversation pending.
-- Safe to repeat: a known delivery changes nothing.
--
-- KEYS  1 message record   2 inbox   3 state   4 pending   5 the person's rate   6 the chat's rate (groups only)
-- ARGV  1 delivery id      2 conversation id   3 merge key ('-' = never merged)   4 sealed message
--       5 now, ms          6 remember for, ms  7 owner (person id)   8 '1' if it can be answered later
--       9 messages a person may send a minute   10 messages a chat may send a minute   11 longest inbox
--       12 '1' if this is a stop word            13 life of inbox and state, ms         14 stop channel
-- Returns {'new' | 'limited' | 'repeat', state}
local known = redis.call('HGET', KEYS[1], 'state')
if known then return {'repeat', known} end

local nowMs, rememberMs = ARGV[5], ARGV[6]

local function count(key)
  local used = redis.call('INCR', key)
  if used == 1 then redis.call('PEXPIRE', key, 60000) end
  return used
end

local waiting = redis.call('LLEN', KEYS[2])
local isLimited = count(KEYS[5]) > tonumber(ARGV[9]) or waiting >= tonumber(ARGV[11])
-- A private chat has one person, whose own limit is the lower one.
if KEYS[6] and count(KEYS[6]) > tonumber(ARGV[10]) then isLimited = true end
-- A stop word must get through whatever is queued: it is what ends a flood.
if isLimited and ARGV[12] ~= '1' then
  redis.call('HSET', KEYS[1], 'state', 'limited', 'owner', ARGV[7], 'atMs', nowMs)
  redis.call('PEXPIRE', KEYS[1], rememberMs)
  return {'limited', 'limited'}
end

local seq = redis.call('HINCRBY', KEYS[3], 'seq', 1)
redis.call('RPUSH', KEYS[2], ARGV[1] .. ':' .. ARGV[3] .. ':' .. nowMs .. ':' .. seq .. ':' .. ARGV[4])
redis.call('HSET', KEYS[1], 'state', 'accepted', 'conversation', ARGV[2], 'owner', ARGV[7], 'atMs', nowMs,
  'finished', '0', 'later', ARGV[8])
redis.call('PEXPIRE', KEYS[1], rememberMs)
-- What a conversation keeps lives on with each message that finds its inbox empty.
if waiting == 0 then
  redis.call('PEXPIRE', KEYS[2], ARGV[13])
  redis.call('PEXPIRE', KEYS[3], ARGV[13])
end
redis.call('ZADD', KEYS[4], 'NX', nowMs, ARGV[2])
if ARGV[12] == '1' then
  redis.call('HSET', KEYS[3], 'stopSeq', seq, 'stopOwner', ARGV[7])
  redis.call('PUBLISH', ARGV[14], ARGV[2] .. ':' .. seq .. ':' .. ARGV[7])
end
return {'new', 'accepted'}
