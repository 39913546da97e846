-- Writes fields of a link only if one of its version fields is unchanged since it was read (SECURITY.md refresh-token-kept).
-- Keys       link
-- Arguments  versionField   version: the expected one   writing: name of this call   fields: names and values
-- Returns    1 if written, 0 if the version changed or there is no link. Safe to repeat until another call has written.
local link = redis.call('HMGET', keys.link, args.versionField, 'writing')
if link[2] == args.writing then return 1 end
-- guard: refresh-token-kept/same-version
if link[1] ~= args.version then return 0 end
redis.call('HSET', keys.link, 'writing', args.writing, unpack(args.fields))
return 1
