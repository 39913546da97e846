-- One step of a scan for links, on the node that holds them.
-- Keys       sameSlot: any key with the links' hash tag
-- Arguments  cursor   pattern: of the links' keys   count: approximate number of keys to scan
-- Returns    cursor: the next one   names: keys. The scan ends when the cursor is 0. Changes nothing.
local cursor, names = unpack(redis.call('SCAN', args.cursor, 'MATCH', args.pattern, 'COUNT', args.count))
return answer { cursor = cursor, names = names }
