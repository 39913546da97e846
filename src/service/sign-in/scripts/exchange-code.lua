-- Takes an authorization code and makes its tokens, in one step: of many exchanges of one code exactly one succeeds.
-- A code that was taken before revokes what it gave (RFC 6749 section 4.1.2). Any attempt uses the code up.
-- KEYS: 1 code, 2 grant, 3 access token, 4 refresh token
-- ARGV: 1 now (ms), 2 life of a code (ms), 3 client id, 4 redirect uri, 5 PKCE challenge made from the verifier ('' without),
--       6 grant id, 7 access token expiry (ms since epoch), 8 refresh token expiry (ms since epoch),
--       9 time to keep the access token (ms), 10 time to keep the refresh token and the grant (ms)
-- Output: 'ok', 'unknown', 'reused', 'expired', 'client', 'redirect' or 'verifier'
local code = redis.call('HMGET', KEYS[1], 'issuedAtMs', 'clientId', 'redirectUri', 'challenge', 'username', 'scope', 'used')
if not code[1] then return 'unknown' end
if code[7] then
  redis.call('DEL', KEYS[2])
  return 'reused'
end
redis.call('HSET', KEYS[1], 'used', '1')
-- As long as its tokens may live, a second use must be noticed.
redis.call('PEXPIRE', KEYS[1], ARGV[10])
if tonumber(ARGV[1]) - tonumber(code[1]) >= tonumber(ARGV[2]) then return 'expired' end
if code[2] ~= ARGV[3] then return 'client' end
if code[3] ~= ARGV[4] then return 'redirect' end
if code[4] ~= ARGV[5] then return 'verifier' end
redis.call('HSET', KEYS[2], 'username', code[5], 'clientId', code[2], 'scope', code[6])
redis.call('PEXPIRE', KEYS[2], ARGV[10])
redis.call('HSET', KEYS[3], 'grant', ARGV[6], 'expiresAtMs', ARGV[7])
redis.call('PEXPIRE', KEYS[3], ARGV[9])
redis.call('HSET', KEYS[4], 'grant', ARGV[6], 'expiresAtMs', ARGV[8])
redis.call('PEXPIRE', KEYS[4], ARGV[10])
return 'ok'
