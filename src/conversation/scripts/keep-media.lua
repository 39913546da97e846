-- Keeps one prepared image, unless the person whose it is has had their share kept already.
-- KEYS  1 the image   2 bytes kept for the person   ARGV  1 sealed image   2 life, ms   3 most bytes of a person
-- Output: 1 when it is kept, else 0. Safe to repeat: what is kept already costs nothing.
local isThere = redis.call('EXISTS', KEYS[1]) == 1
local used = tonumber(redis.call('GET', KEYS[2]) or '0')
if not isThere then
  if used + #ARGV[1] > tonumber(ARGV[3]) then return 0 end
  if redis.call('INCRBY', KEYS[2], #ARGV[1]) == #ARGV[1] then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
