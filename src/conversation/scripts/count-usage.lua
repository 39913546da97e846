-- Adds one turn to a person's counters, once: a turn that was counted is known for a while (security.md 4.12).
-- KEYS  1 this turn's mark   2 … counters, one for each period
-- ARGV  1 life of the mark, ms   2 questions   3 tokens   4 … life of each counter, ms
-- Returns 1, or 0 when the turn was counted before
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
for index = 2, #KEYS do
  redis.call('HINCRBY', KEYS[index], 'questions', ARGV[2])
  redis.call('HINCRBY', KEYS[index], 'tokens', ARGV[3])
  redis.call('PEXPIRE', KEYS[index], ARGV[index + 2])
end
return 1
