-- One step of a scan for links, on the node that holds them.
-- KEYS: 1 any key with the links' hash tag; ARGV: 1 cursor, 2 pattern of the links' keys, 3 keys to look at, about
-- Output: {next cursor, {key, …}}; the scan is over when the cursor is 0. Changes nothing.
return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
