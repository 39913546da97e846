-- Notes the fate of a push that the caller began, unless another process has begun it since then.
--
-- Constants  KEPT_MS
-- Keys       pushing (begin-push.lua)
-- Arguments  number: of the caller's lease   isSent: '1' if it is sent now; '' if it was not sent, or if WeCom refused it
local mine = redis.call('GET', keys.pushing)
if mine ~= args.number and mine ~= 'b' .. args.number then return end
if args.isSent == '1' then redis.call('SET', keys.pushing, args.number, 'PX', KEPT_MS) else redis.call('DEL', keys.pushing) end
