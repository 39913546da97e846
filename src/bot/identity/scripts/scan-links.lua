-- One step of a scan for links, on the node that holds them.
-- keys  sameSlot: any key with the links' hash tag
-- args  cursor   pattern: of the links' keys   count: of keys to look at, about
-- Answers cursor: the next one   names: keys. The scan is over when the cursor is 0. Changes nothing.
local cursor, names = unpack(redis.call('SCAN', args.cursor, 'MATCH', args.pattern, 'COUNT', args.count))
return answer { cursor = cursor, names = names }
