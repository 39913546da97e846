-- Stores one prepared image, or the contents of a file. If the person's share is full, their oldest items are evicted.
-- Keys       image   kept: list of the names of the person's stored items, oldest first; some may have expired   record: of the message that contained the item
-- Arguments  sealed: the image   lifeMs   maxBytes, maxPieces: per person
-- Returns    the number of evicted items; -1 if the item alone is too large or its message was deleted.
-- Safe to repeat: an item that is already stored does not count twice.
local message = redis.call('HMGET', keys.record, 'state', 'deleted')
if message[1] == 'deleted' or message[2] == '1' then return -1 end
if #args.sealed > tonumber(args.maxBytes) then return -1 end
local left = tonumber(args.maxBytes) - #args.sealed
local room = tonumber(args.maxPieces) - 1
local names = redis.call('LRANGE', keys.kept, 0, -1)
local stay, went = {}, 0
for index = #names, 1, -1 do
  local name = names[index]
  local size = redis.call('STRLEN', name)
  if name ~= keys.image and size > 0 then
    -- Once an item is evicted, all older ones are evicted too.
    if went == 0 and size <= left and room > 0 then
      left = left - size
      room = room - 1
      stay[#stay + 1] = name
    else
      redis.call('DEL', name)
      went = went + 1
    end
  end
end
redis.call('DEL', keys.kept)
for index = #stay, 1, -1 do redis.call('RPUSH', keys.kept, stay[index]) end
redis.call('RPUSH', keys.kept, keys.image)
redis.call('PEXPIRE', keys.kept, args.lifeMs)
redis.call('SET', keys.image, args.sealed, 'PX', args.lifeMs)
return went
