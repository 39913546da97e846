-- Writes fields of a link only if one of its version fields is still what the writer read (SECURITY.md refresh-token-kept).
-- args  versionField   version: the expected one   writing: name of this writing   fields: names and values
-- Answers 1 written, 0 the version moved or the link is gone. Safe to repeat, until somebody else has written.
local link = redis.call('HMGET', keys.link, args.versionField, 'writing')
if link[2] == args.writing then return 1 end
if link[1] ~= args.version then return 0 end
redis.call('HSET', keys.link, 'writing', args.writing, unpack(args.fields))
return 1
