-- Lists the processes of a sorted set.
--
-- Keys       members: sorted set of processes, by last registration
-- Arguments  recordPrefix: prefix of the keys of their records; '' = each member is its own record
-- Returns    rows: name   record: '' if there is none   seenAgoMs: time since the last registration
local nowMs = redisNowMs()
local rows = {}
local found = redis.call('ZRANGE', keys.members, 0, -1, 'WITHSCORES')
for index = 1, #found, 2 do
  local name = found[index]
  local record = args.recordPrefix == '' and name or redis.call('GET', args.recordPrefix .. name) or ''
  rows[#rows + 1] = answer { name = name, record = record, seenAgoMs = nowMs - found[index + 1] }
end
return rows
