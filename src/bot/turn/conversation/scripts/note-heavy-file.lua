-- Notes a document that was too heavy to read; beyond a few of them its sender waits, each time twice as long.
-- keys  files: set of the sender's heavy files   wait: stands while no further ones are read
-- args  mediaId   lifeMs: of the set, from its newest file on   freeFiles: how many cost no wait   firstMs   longestMs
-- Safe to repeat: a file that was noted changes nothing. While the wait stands nothing is read, so that the set stays small.
if redis.call('SADD', keys.files, args.mediaId) == 0 then return end
redis.call('PEXPIRE', keys.files, args.lifeMs)
local beyond = redis.call('SCARD', keys.files) - args.freeFiles
if beyond <= 0 then return end
local waitMs = math.min(args.firstMs * 2 ^ math.min(beyond - 1, 20), tonumber(args.longestMs))
redis.call('SET', keys.wait, '', 'PX', string.format('%d', waitMs))
