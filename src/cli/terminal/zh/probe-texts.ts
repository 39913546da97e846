/** `check --sign-in`: the findings of real sign-ins and the suggested settings. */
export const PROBE_TEXTS = {
  'Sign-in is off: set SIGN_IN_URL, and SIGN_IN to required or optional':
    '登录已关闭：请设置 SIGN_IN_URL，并将 SIGN_IN 设为 required 或 optional',
  '{setting} {port} is taken by {holder}: stop it, or set {name} to another port':
    '{setting} {port} 已被{holder}占用：请停止它，或将 {name} 设为其他端口',
  'Open this in your browser within ten minutes, and sign in with your own account:':
    '请在十分钟内用浏览器打开以下地址，并用自己的账号登录：',
  'The browser is still at the sign-in service. If it shows an error there, open the link above again.':
    '浏览器仍停留在登录服务。如果那里显示错误，请重新打开上面的链接。',
  'Stop Parley and run this again: sign-ins return to its address': '请停止 Parley 后重新运行：登录会返回到它的地址',
  '{port} is in use': '{port} 已被占用',
  'ended at step {step} of {count}; the remaining steps were not run':
    '在第 {step} 步结束，共 {count} 步；其余步骤未执行',
  'Run it again and allow ten minutes': '请重新运行，并预留十分钟',
  'Suggested settings:': '建议的设置：',
  '{setting}  # already set; {reason}': '{setting}  # 已设置；{reason}',
  '{setting}  # {reason}': '{setting}  # {reason}',
  // Names of lines
  'Sign-in': '登录',
  Profile: '登录资料',
  'Profile parts': '资料内容',
  'Profile fields': '资料字段',
  'Same id': '账号比对',
  Refresh: '令牌续期',
  State: 'state',
  Probe: '探测',
  Port: '端口',
  'Token lifetime': '令牌有效期',
  'Code after {time} s': '{time} 秒后的授权码',
  'Wrong verifier': '错误的校验码',
  'Verifier without challenge': '多余的校验码',
  'Ticket for another address': '其他地址的票据',
  'Second use of a ticket': '票据再次使用',
  'Second use of a code': '授权码再次使用',
  'After signing out': '退出登录后',
  'Tokens after signing out': '退出后的令牌',
  'Additional parameters': '附加参数',
  'Unknown code': '未知的授权码',
  'Wrong secret': '错误的密钥',
  'Unknown refresh': '未知的续期令牌',
  'Unknown token': '未知的令牌',
  // Shapes of responses
  '{shape}, in {time} ms': '{shape}，用时 {time} 毫秒',
  '{status}, JSON with {fields} ({error})': '{status}，JSON，字段 {fields}（{error}）',
  '{status}, JSON with {fields}': '{status}，JSON，字段 {fields}',
  '{status}, form-encoded with {fields}': '{status}，表单编码，字段 {fields}',
  '{status}, text of {count} characters': '{status}，{count} 个字符的文字',
  '{status}, JSON, but not an object': '{status}，JSON，但不是对象',
  '{status}, empty': '{status}，空',
  'no answer ({reason})': '没有响应（{reason}）',
  'no fields': '无',
  'a non-standard error code': '非标准的错误代码',
  '{shape}, sent as {type}': '{shape}，类型为 {type}',
  'no type': '空',
  'refused ({shape})': '被拒绝（{shape}）',
  'refused ({shape}); {effect}': '被拒绝（{shape}）；{effect}',
  'already refused ({shape})': '已被拒绝（{shape}）',
  'no clear refusal ({shape})': '没有明确拒绝（{shape}）',
  'not clearly refused ({shape})': '没有明确拒绝（{shape}）',
  'not clearly refused ({shape}); {effect}': '没有明确拒绝（{shape}）；{effect}',
  accepted: '被接受',
  works: '可用',
  // Findings
  'Run the probe again': '请重新运行探测',
  'Report this to the operator of the sign-in service; Parley itself uses each code immediately':
    '请告知登录服务的管理员；Parley 自己会立即使用授权码',
  'works, though the specification allows 10 s': '仍可用，但规范只允许 10 秒',
  'Ensure a fast connection between Parley and the sign-in service, because its codes expire early':
    '授权码过期较早，请确保 Parley 与登录服务之间的连接够快',
  'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET, and allow the authorization code flow at the provider':
    '请改正 SIGN_IN_CLIENT_ID 和 SIGN_IN_CLIENT_SECRET，并在登录服务中允许授权码流程',
  'Give consent at the provider, and check that this account may use the application':
    '请在登录服务中同意授权，并确认此账号可以使用该应用',
  'The id token names another issuer or client: set SIGN_IN_URL to the exact issuer, and check SIGN_IN_CLIENT_ID':
    'id token 中的 issuer 或客户端不符：请将 SIGN_IN_URL 设为 issuer 原值，并检查 SIGN_IN_CLIENT_ID',
  'Configure the provider to sign id tokens with RS256 or ES256 and a key from its jwks_uri':
    '请让登录服务用 RS256 或 ES256 以及 jwks_uri 中的密钥签发 id token',
  'Check that this machine can reach SIGN_IN_URL within 5 s': '请确认本机能在 5 秒内访问 SIGN_IN_URL',
  'Map that field to another claim in SIGN_IN_PROFILE_MAP_FILE':
    '请在 SIGN_IN_PROFILE_MAP_FILE 中将该字段对应到其他 claim',
  'Sign in with another account, or correct SIGN_IN_IDENTITY_CODES or SIGN_IN_PROFILE_MAP_FILE':
    '请换一个账号登录，或改正 SIGN_IN_IDENTITY_CODES 或 SIGN_IN_PROFILE_MAP_FILE',
  'Sign in with an account that may use Parley, or correct "inactive" in SIGN_IN_PROFILE_MAP_FILE':
    '请使用有权使用 Parley 的账号登录，或改正 SIGN_IN_PROFILE_MAP_FILE 中的 "inactive"',
  'Enable PKCE with S256 for this client; until then, state and nonce protect sign-ins':
    '请为此客户端启用 PKCE（S256）；在此之前，登录由 state 和 nonce 保护',
  'accepted: the provider ignores PKCE': '被接受：登录服务忽略 PKCE',
  'Do not use this server until this is fixed: any of its other applications could sign in here as their users':
    '修复之前请勿使用此服务器：它的其他应用可以冒充其用户在此登录',
  'accepted: the server does not compare service addresses': '被接受：服务器不比对服务地址',
  'the ticket is valid, in {time} ms': '票据有效，用时 {time} 毫秒',
  'the code returned tokens, and the id token is valid, in {time} ms':
    '授权码换得令牌，id token 有效，用时 {time} 毫秒',
  'the ticket is valid': '票据有效',
  'the code returned tokens, and the id token is valid': '授权码换得令牌，id token 有效',
  'readable and usable, id {id}': '可读取、可使用，ID {id}',
  'no name': '没有姓名',
  'no department': '没有部门',
  'no identity type': '没有身份类型',
  'name, department and identity type are present': '姓名、部门和身份类型齐全',
  'If you need these, name their claims in SIGN_IN_PROFILE_MAP_FILE, or have the provider release them':
    '如果需要，请在 SIGN_IN_PROFILE_MAP_FILE 中指定对应的 claim，或让登录服务提供它们',
  'Configure the provider to issue refresh tokens (Entra ID and Okta do for offline_access in SIGN_IN_SCOPE): without them accounts are not checked daily, and people sign in again after 30 days':
    '请让登录服务签发 refresh token（Entra ID 和 Okta 需在 SIGN_IN_SCOPE 中加入 offline_access）：否则无法每天核验账号，用户 30 天后需要重新登录',
  'no refresh token was issued': '没有签发 refresh token',
  'Contact the operator of the sign-in service: the daily check needs refresh tokens':
    '请联系登录服务的管理员：每天核验账号需要 refresh token',
  'the refresh token is refused ({status})': 'refresh token 被拒绝（{status}）',
  'the renewed token is refused': '续期后的令牌被拒绝',
  'a new refresh token': '新的 refresh token',
  'no new refresh token (the first stays valid)': '没有新的 refresh token（原来的仍有效）',
  'the same refresh token again': '原来的 refresh token',
  'returns new tokens of the same person, and {next}': '返回同一人的新令牌，以及{next}',
  'Report this to the operator of the sign-in service: a leaked code or ticket could be used by others':
    '请告知登录服务的管理员：泄露的授权码或票据可能被他人使用',
  'Report this to the operator of the sign-in service: a leaked code could be used by others':
    '请告知登录服务的管理员：泄露的授权码可能被他人使用',
  'no tokens for this test ({shape})': '没有可用于此项测试的令牌（{shape}）',
  'the refresh token still works': 'refresh token 仍可用',
  'the refresh token is invalid': 'refresh token 已失效',
  'People who sign out at the provider must sign in to Parley again after its next check; offline_access in SIGN_IN_SCOPE may prevent this':
    '在登录服务退出的用户，在 Parley 下次核验后需要重新登录；在 SIGN_IN_SCOPE 中加入 offline_access 或可避免',
  'People who sign out at the service must sign in to Parley again after its next check':
    '在登录服务退出的用户，在 Parley 下次核验后需要重新登录',
  'the access token still works; {other}': 'access token 仍可用；{other}',
  'the access token is invalid; {other}': 'access token 已失效；{other}',
  'the access token still works': 'access token 仍可用',
  'the access token is invalid': 'access token 已失效',
  'expires_in {what}; Parley assumes 5 minutes': 'expires_in {what}；Parley 按 5 分钟处理',
  'is missing': '缺失',
  'is empty': '为空',
  'is of type {type}': '类型为 {type}',
  '{field} is missing': '{field} 缺失',
  'is not a number above 0 ({type})': '不是大于 0 的数字（{type}）',
  'expires_in is {value}, as a string': 'expires_in 为 {value}（文字）',
  'expires_in is {value}': 'expires_in 为 {value}',
  '{raw}: {seconds} as seconds, {milliseconds} as milliseconds': '{raw}：按秒为 {seconds}，按毫秒为 {milliseconds}',
  '{raw}: {time} as {unit}': '{raw}：按{unit}为 {time}',
  seconds: '秒',
  milliseconds: '毫秒',
  '{number} s': '{number} 秒',
  '{number} min': '{number} 分钟',
  '{number} h': '{number} 小时',
  '{number} d': '{number} 天',
  'Report this to the operator of the sign-in service: clients must be able to send PKCE (RFC 7636)':
    '请告知登录服务的管理员：客户端必须能使用 PKCE（RFC 7636）',
  'an unknown parameter and PKCE are accepted': '接受未知参数和 PKCE',
  'the code returns no tokens ({shape})': '授权码没有换得令牌（{shape}）',
  'accepted: the service ignores PKCE': '被接受：登录服务忽略 PKCE',
  'accepted: PKCE does not protect codes that were requested without it': '被接受：PKCE 不保护未使用它申请的授权码',
  '{detail}; state protects sign-ins': '{detail}；登录由 state 保护',
  'Include same-id in SIGN_IN_PROOF, because state is absent too':
    '由于也没有 state，请在 SIGN_IN_PROOF 中加入 same-id',
  'Check that the client may use this redirect address and scope, and that you gave consent':
    '请确认客户端可以使用此回调地址和 scope，并且你已同意授权',
  'Set SIGN_IN_CLIENT_AUTH={method}, which the service accepts':
    '请设置 SIGN_IN_CLIENT_AUTH={method}，登录服务接受这种方式',
  'Set SIGN_IN_CLIENT_SECRET': '请设置 SIGN_IN_CLIENT_SECRET',
  'Ask the operator of the sign-in service to answer token requests in JSON': '请登录服务的管理员以 JSON 响应令牌请求',
  'Set SIGN_IN_EXPIRES_UNIT={unit}': '请设置 SIGN_IN_EXPIRES_UNIT={unit}',
  'Ask the operator of the sign-in service for the unit': '请向登录服务的管理员询问单位',
  'Set SIGN_IN_KEEP_TOKENS=none: Parley has no token to renew':
    '请设置 SIGN_IN_KEEP_TOKENS=none：Parley 没有可续期的令牌',
  'a refresh token was issued, but: {refusal}': '签发了 refresh token，但{refusal}',
  'the first access token still works': '原来的 access token 仍可用',
  'the first access token is invalid': '原来的 access token 已失效',
  'returns an access token and {next}; {old}': '返回 access token 和{next}；{old}',
  'returns an access token that the profile address refuses ({shape})': '返回的 access token 被资料接口拒绝（{shape}）',
  'the first token still works': '原来的令牌仍可用',
  'it revokes the first token': '原来的令牌随之失效',
  'the first token was already invalid': '原来的令牌此前已失效',
  'This is not a refusal as in RFC 6749, so Parley needs longer to recognise it':
    '这不是 RFC 6749 规定的拒绝方式，Parley 需要更长时间才能识别',
  'Sign in with an account that may use Parley, or contact the operator of the sign-in service':
    '请使用有权使用 Parley 的账号登录，或联系登录服务的管理员',
  'all required fields are present': '必需的字段齐全',
  'Ask the operator of the sign-in service for the missing fields': '请向登录服务的管理员索取缺少的字段',
  '{person} matches this profile by {rule}': '{person} 与此登录资料相符（{rule}）',
  '{person} does not match this profile (id {id}), by {rule}': '{person} 与此登录资料不符（ID {id}，{rule}）',
  'Sign in as that person, or set another SIGN_IN_SAME_ID_RULE': '请以该人员登录，或设置其他 SIGN_IN_SAME_ID_RULE',
  'the browser did not return from the sign-in service': '浏览器没有从登录服务返回',
  'the step failed ({error})': '此步骤出错（{error}）',
  'the sign-in service returned the browser with an error ({error})': '登录服务让浏览器带着错误返回（{error}）',
  'unknown error': '未知错误',
  'is returned changed': '返回时被改动',
  'is returned unchanged': '原样返回',
  'is not returned': '没有返回',
  'is not returned, as configured': '没有返回，与设置一致',
  'was returned in some steps only': '只在部分步骤中返回',
  'Ask the operator of the sign-in service to return state unchanged': '请登录服务的管理员原样返回 state',
  'Report this to the operator of the sign-in service; Parley refuses returns without state':
    '请告知登录服务的管理员；Parley 拒绝不带 state 的返回',
  'Set SIGN_IN_STATE=required, the stronger option': '请设置更安全的 SIGN_IN_STATE=required',
  'Set SIGN_IN_STATE=absent': '请设置 SIGN_IN_STATE=absent',
  'Contact the operator of the sign-in service: OAuth 2.0 requires that state is returned unchanged':
    '请联系登录服务的管理员：OAuth 2.0 要求原样返回 state',
  'the service returns state': '登录服务会返回 state',
  'the service does not return state': '登录服务不返回 state',
  'the refresh token does not work': 'refresh token 不可用',
  'refresh tokens become invalid when people sign out at the service': '用户在登录服务退出后，refresh token 失效',
  'for the daily check': '用于每天核验账号',
  "without state and PKCE, only equal ids prevent another person's sign-in; the compared ids differ, so set SIGN_IN_SAME_ID_RULE first":
    '没有 state 和 PKCE 时，只有账号相同才能防止他人登录；比对的账号不同，请先设置 SIGN_IN_SAME_ID_RULE',
  "without state and PKCE, only equal ids prevent another person's sign-in":
    '没有 state 和 PKCE 时，只有账号相同才能防止他人登录',
} as const;
