-- Notes something about the running turn, fenced.
--
-- KEYS  1 state   2 pending
-- ARGV  1 epoch   2 'answered' (3 = the sealed full text) | 'waiting' | 'solo' | 'given-back' (3 = so long ago it counts as touched, ms; 4 = conversation id)
-- Returns 1, or 0 when a newer epoch exists
if tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0') ~= tonumber(ARGV[1]) then return 0 end
if ARGV[2] == 'answered' then redis.call('HSET', KEYS[1], 'answer', ARGV[3])
elseif ARGV[2] == 'solo' then redis.call('HSET', KEYS[1], 'solo', '1', 'running', '1')
else
  -- What does not run is not harmed by a crash. To take a field away, and then to write more, is possible in a full Redis too.
  redis.call('HDEL', KEYS[1], 'running')
  if ARGV[2] == 'given-back' then
    redis.call('HDEL', KEYS[1], 'aliveMs')
    -- From here on the worker that gave it back is refused, whatever of it is still on its way.
    redis.call('HINCRBY', KEYS[1], 'epoch', 1)
    redis.call('ZADD', KEYS[2], redisNowMs() - ARGV[3], ARGV[4])
  end
end
return 1
