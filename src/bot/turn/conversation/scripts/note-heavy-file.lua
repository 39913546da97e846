-- Records a document that was too heavy to read. Beyond a number of free files, the sender must wait, twice as long each time.
-- Keys       files: set of the sender's heavy files   wait: exists while no further files are read
-- Arguments  mediaId   lifeMs: of the set, from its newest file   freeFiles: number of files without a wait   firstMs   maxMs
--
-- Safe to repeat: a recorded file changes nothing. No files are read during the wait, so the set stays small.
if redis.call('SADD', keys.files, args.mediaId) == 0 then return end
redis.call('PEXPIRE', keys.files, args.lifeMs)
local beyond = redis.call('SCARD', keys.files) - args.freeFiles
if beyond <= 0 then return end
local waitMs = math.min(args.firstMs * 2 ^ math.min(beyond - 1, 20), tonumber(args.maxMs))
redis.call('SET', keys.wait, '', 'PX', string.format('%d', waitMs))
