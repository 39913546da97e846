-- Writes fields of a link only if one of its version fields is still what the writer read (SECURITY.md refresh-token-kept).
-- KEYS: 1 link; ARGV: 1 version field, 2 expected version, 3 name of this writing, 4 … fields and values
-- Output: 1 written, 0 the version moved or the link is gone. Safe to repeat, until somebody else has written.
local link = redis.call('HMGET', KEYS[1], ARGV[1], 'writing')
if link[2] == ARGV[3] then return 1 end
if link[1] ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], 'writing', unpack(ARGV, 3))
return 1
