-- Counts a password before it is checked, unless a limit is reached; atomic, so that concurrent attempts cannot exceed a limit.
-- Counters only: counting an attempt twice after a reconnect does no harm.
-- Keys       own: failures of the name in this browser if it is known, else at the address   ofName: anywhere   ofAddress
-- Arguments  isKnown: whether the browser is   ownLimit, nameLimit, addressLimit   windowMs
-- Returns    mayLook: may it be checked   count: attempts counted in `own`   leftMs: until the window ends
local isKnown = args.isKnown == '1'
local limits = { [keys.own] = args.ownLimit, [keys.ofName] = args.nameLimit, [keys.ofAddress] = args.addressLimit }
local function isFull(counter) return tonumber(redis.call('GET', counter) or '0') >= tonumber(limits[counter]) end
local closed
if isKnown then
  closed = isFull(keys.own) and keys.own
else
  closed = isFull(keys.ofAddress) and keys.ofAddress or isFull(keys.ofName) and isFull(keys.own) and keys.ofName
end
if closed then return answer { mayLook = false, leftMs = redis.call('PTTL', closed) } end
for counter in pairs(limits) do
  if redis.call('INCR', counter) == 1 then redis.call('PEXPIRE', counter, args.windowMs) end
end
return answer { mayLook = true, count = tonumber(redis.call('GET', keys.own)), leftMs = redis.call('PTTL', keys.own) }
