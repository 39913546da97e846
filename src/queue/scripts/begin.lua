-- Takes the next epoch of a conversation (from now on every older worker is refused) and says which turn to run:
-- the one that was left unfinished, or a new one from the inbox's head. Nothing leaves the inbox here.
-- Safe to repeat with the same claim (security.md 4.12): then neither the epoch nor a crash is counted again.
--
-- KEYS  1 state   2 inbox   3 pending   4 held   5 history   6 notices
-- ARGV  1 conversation id   2 now, ms   3 most messages of one turn   4 turns of history wanted   5 message key prefix
--       6 claim: a name for this taking, so that one that the connection sends again is known   7 most bytes of history
--       8 how far the epoch goes on: by chance, since a failover may lose the newest epoch, and then the next one must not
--         be the one that a worker still holds
--       9 preferences key prefix   10 life of preferences, ms; they live on with each turn of their person
-- Returns {epoch, turn id ('' = nothing waits), crashes, crashes as the only suspect, stored answer,
--          stop sequence, stop owner, stop that was served, held count,
--          when the answered message came (ms), '1' if its live reply was handed over, {entries}, {history}, {notices},
--          '1' if a worker had begun this turn before, {what the sender chose: field, sealed, …}}
local isRepeat = redis.call('HGET', KEYS[1], 'claim') == ARGV[6]
local epoch = isRepeat and tonumber(redis.call('HGET', KEYS[1], 'epoch')) or redis.call('HINCRBY', KEYS[1], 'epoch', ARGV[8])
redis.call('HSET', KEYS[1], 'claim', ARGV[6])
local head = redis.call('LRANGE', KEYS[2], 0, tonumber(ARGV[3]) - 1)

local function partsOf(entry)
  local id, merge = string.match(entry, '^(%x+):([^:]+):')
  return id, merge
end

-- The list's newest values, oldest first: at most so many, and no more bytes than told but for the newest one.
local function newest(key, most, mostBytes)
  local found, bytes = {}, 0
  for from = 1, most, 10 do
    local some = redis.call('LRANGE', key, -(from + 9), -from)
    for index = #some, 1, -1 do
      bytes = bytes + #some[index]
      if #found == most or (#found > 0 and bytes > mostBytes) then return found end
      table.insert(found, 1, some[index])
    end
    if #some < 10 then break end
  end
  return found
end

if #head == 0 then
  redis.call('ZREM', KEYS[3], ARGV[1])
  redis.call('HDEL', KEYS[1], 'turn', 'size', 'running', 'crashes', 'solo', 'soloCrashes', 'answer')
  return {epoch, '', 0, 0, '', 0, '', 0, 0, 0, '0', {}, {}, {}, '0', {}}
end
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])

local turn, size = redis.call('HGET', KEYS[1], 'turn'), tonumber(redis.call('HGET', KEYS[1], 'size') or '0')
local isLeftOver = turn and size >= 1 and head[size] and partsOf(head[size]) == turn
if isLeftOver then
  -- An orderly stop clears `running`; a turn that is found running lost its worker by a crash.
  if not isRepeat and redis.call('HGET', KEYS[1], 'running') == '1' then
    redis.call('HINCRBY', KEYS[1], 'crashes', 1)
    if redis.call('HGET', KEYS[1], 'solo') == '1' then redis.call('HINCRBY', KEYS[1], 'soloCrashes', 1) end
  end
else
  local _, merge = partsOf(head[1])
  size = 1
  while merge ~= '-' and head[size + 1] and select(2, partsOf(head[size + 1])) == merge do size = size + 1 end
  turn = partsOf(head[size])
  redis.call('HDEL', KEYS[1], 'crashes', 'soloCrashes', 'answer')
  redis.call('HSET', KEYS[1], 'turn', turn, 'size', size)
end
redis.call('HSET', KEYS[1], 'running', '1', 'solo', '0')

local entries = {}
for index = 1, size do entries[index] = head[index] end
local state = redis.call('HMGET', KEYS[1], 'crashes', 'soloCrashes', 'answer', 'stopSeq', 'stopOwner', 'stopServed')
local record = redis.call('HMGET', ARGV[5] .. turn, 'atMs', 'handedOver', 'owner')
local preferences = record[3] and redis.call('HGETALL', ARGV[9] .. record[3]) or {}
if #preferences > 0 then redis.call('PEXPIRE', ARGV[9] .. record[3], ARGV[10]) end
return {epoch, turn, tonumber(state[1] or '0'), tonumber(state[2] or '0'), state[3] or '', tonumber(state[4] or '0'),
  state[5] or '', tonumber(state[6] or '0'), redis.call('LLEN', KEYS[4]),
  tonumber(record[1] or ARGV[2]), record[2] or '0', entries,
  newest(KEYS[5], tonumber(ARGV[4]), tonumber(ARGV[7])), redis.call('LRANGE', KEYS[6], 0, -1),
  isLeftOver and '1' or '0', preferences}
