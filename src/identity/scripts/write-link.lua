-- Writes fields of a link only if one of its version fields is still what the writer read (security.md 2.7.5).
-- KEYS: 1 link; ARGV: 1 version field, 2 expected version, 3 … fields and values
-- Output: 1 written, 0 the version moved or the link is gone. A repeat answers 0, and the writer reads again.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return 1
