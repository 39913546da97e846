/** Lines of `check`, and what the platforms report about their settings. */
export const CHECK_TEXTS = {
  // Names of lines
  'Sign-in service': '登录服务',
  'Chat service': '模型服务',
  Chat: '模型服务',
  'Chat models': '模型列表',
  'Chat answer': '模型回答',
  'Chat fallback answer': '备用模型回答',
  'Connected chat models': '页面上连接的模型列表',
  'Connected chat answer': '页面上连接的模型回答',
  'Messaging app': '办公应用',
  'Public address': '公网地址',
  Traces: '链路追踪',
  'Sign-in pages': '登录页面',
  'Webhook {platform}': '{platform} 回调',
  'Redis sentinel {address}': 'Redis 哨兵 {address}',
  'Redis persistence': 'Redis 持久化',
  'Redis eviction': 'Redis 淘汰策略',
  'Service keys': '服务密钥',
  'Model {name}': '模型 {name}',
  Models: '模型',
  Files: '文件',
  Ports: '端口',
  Proxy: '代理',
  Knowledge: '知识库',
  'Slack bot': 'Slack 机器人',
  'Slack scopes': 'Slack 权限',
  'Slack socket': 'Slack 连接',
  'Slack sign-in': 'Slack 登录',
  'WeCom app': '企业微信应用',
  'WeCom bot': '企业微信机器人',
  'WeCom connection': '企业微信长连接',
  WeCom: '企业微信',
  // Verdicts and the summary
  ok: '正常',
  hint: '提示',
  warning: '警告',
  fault: '错误',
  '{count} checks passed': '{count} 项正常',
  '{count} check passed': '{count} 项正常',
  '{count} hints': '{count} 条提示',
  '{count} hint': '{count} 条提示',
  '{count} warnings': '{count} 条警告',
  '{count} warning': '{count} 条警告',
  '{count} to fix': '{count} 项需要处理',
  'no result in time': '超时，没有结果',
  'the check itself failed ({name})': '检查本身出错（{name}）',
  // Shared
  'cannot be reached ({code})': '无法连接（{code}）',
  'answers {status}': '返回 {status}',
  '{address} answers {status}': '{address} 返回 {status}',
  'Check {what}': '请检查 {what}',
  'Try again': '请重试',
  '{list} and {count} more': '{list} 等（另有 {count} 个）',
  'another program': '其他程序',
  'a program (process {id})': '某个程序（进程 {id}）',
  '{program} (process {id})': '{program}（进程 {id}）',
  // Chat
  '{title} fallback answer': '{title}：备用模型回答',
  'the service does not list its models': '服务不提供模型列表',
  'the model list cannot be read': '无法读取模型列表',
  'the service lists no chat models': '服务没有列出对话模型',
  'not listed: {models}': '列表中没有：{models}',
  'Choose {settings} from: {models}': '请从以下模型中选择 {settings}：{models}',
  'To offer only some of them, list these in {setting}': '如果只想提供其中一部分，请在 {setting} 中列出',
  'Set {setting} to the models that it offers': '请将 {setting} 设为该服务提供的模型',
  '{detail}; {models} are assumed': '{detail}；按 {models} 处理',
  'the response contains no answer': '响应中没有回答',
  'Check that {setting} ends in /v1': '请确认 {setting} 以 /v1 结尾',
  '{model} answered in {time} ms': '{model} 已回答，用时 {time} 毫秒',
  'Start the service, or correct {setting}': '请启动服务，或改正 {setting}',
  'Set {setting} to a valid key': '请将 {setting} 设为有效的密钥',
  'Set {setting} to a key that may use this model': '请将 {setting} 设为有权使用该模型的密钥',
  'Check that {setting} ends in /v1, and that the service has a model as named by {model}':
    '请确认 {setting} 以 /v1 结尾，且服务中有 {model} 指定的模型',
  'Wait, or ask for a higher limit': '请稍候，或申请提高限额',
  'Contact the operator of the chat service': '请联系模型服务的管理员',
  'the address on the page': '页面上的地址',
  'the key on the page': '页面上的密钥',
  'the model on the page': '页面上的模型',
  "the engine's names in SERVICE_UPSTREAM_MODELS (svc-plus=NAME)":
    'SERVICE_UPSTREAM_MODELS 中的引擎模型名（svc-plus=名称）',
  '{count} more are not in MODELS_FILE and were not tested': '另有 {count} 个模型不在 MODELS_FILE 中，未测试',
  'To test others, name them in CHAT_MODELS': '如需测试其他模型，请在 CHAT_MODELS 中列出',
  'is not in MODELS_FILE and did not answer, so no entry can be suggested':
    '不在 MODELS_FILE 中，也没有回答，因此无法给出建议条目',
  'Correct its name, or the fault of the chat service in the lines above': '请改正模型名，或先处理上面模型服务的错误',
  'is not in MODELS_FILE: only text and tools are used, no images or thinking':
    '不在 MODELS_FILE 中：只使用文字和工具，不使用图片和思考',
  'A few small requests suggest this entry; add it to the list [ ] in {file}: {entry}':
    '根据几次小请求，建议在 {file} 的列表 [ ] 中加入：{entry}',
  // Files and embedded parts
  'all files named by the settings are usable': '设置中指定的文件均可用',
  "{setting} names {path}, which cannot be read ({code}): correct the path or the file's permissions":
    '{setting} 指定的 {path} 无法读取（{code}）：请改正路径或文件权限',
  '{setting} ({path}) does not exist any more: restore the file, or restart Parley to use the one in defaults/':
    '{setting}（{path}）已不存在：请恢复该文件，或重启 Parley 以使用 defaults/ 中的文件',
  'embedded, started by npm start ({program})': '内置，由 npm start 启动（{program}）',
  'embedded; to use a real one, set the credentials of {apps}': '内置；如需使用真实的办公应用，请设置{apps}的凭证',
  'embedded; to use your own, set {setting}': '内置；如需使用自己的服务，请设置 {setting}',
  'your files: {files}': '你的文件：{files}',
  'files shipped with Parley: {files}': 'Parley 自带的文件：{files}',
  'to change one, copy it from {folder} to config/ and edit the copy':
    '如需修改，请从 {folder} 复制到 config/，再编辑副本',
  'describe the source in {file}': '请在 {file} 中描述该来源',
  'the scene {name} ({file}) names {sources}, which {path} does not define':
    '场景 {name}（{file}）引用了 {sources}，但 {path} 中没有定义',
  'describe the source there': '请在其中描述该来源',
  'it knows {sources}': '其中已有 {sources}',
  // Ports and proxies
  'Parley runs on PORT {port} with these settings': 'Parley 正以这些设置在 PORT {port} 上运行',
  'Parley runs on PORT {port} with this key, but was started with other settings':
    'Parley 正以此密钥在 PORT {port} 上运行，但启动时用的是其他设置',
  'Restart Parley': '请重启 Parley',
  '{setting} {port} is taken by {holder}': '{setting} {port} 已被{holder}占用',
  'npm start uses the next free port and reports it': 'npm start 会使用下一个空闲端口并告知',
  'Stop that program, or set {setting} to another port': '请停止该程序，或将 {setting} 设为其他端口',
  '{port} requires privileges that this user does not have': '{port} 需要当前用户没有的权限',
  'Choose a port above 1023': '请选择大于 1023 的端口',
  'HOST {host} is not an address of this machine': 'HOST {host} 不是本机地址',
  'Set HOST to an address of this machine, or to 0.0.0.0 for all of them':
    '请将 HOST 设为本机地址，或设为 0.0.0.0 以监听所有地址',
  'free: {ports}': '空闲：{ports}',
  'cannot listen on {port} ({code})': '无法监听 {port}（{code}）',
  'Choose another port': '请选择其他端口',
  '{proxy} accepts connections ({setting})': '{proxy} 可以连接（{setting}）',
  '{proxy} cannot be reached ({fault})': '无法连接 {proxy}（{fault}）',
  'Check the host and port in {setting}, or unset it; list internal hosts in NO_PROXY':
    '请检查 {setting} 中的主机和端口，或取消该设置；内网主机请列入 NO_PROXY',
  'no proxy is set': '未设置代理',
  // Traces
  '{host} accepts traces': '{host} 可以接收链路',
  '{host} does not accept traces ({reason})': '{host} 不接收链路（{reason}）',
  'Check OTEL_EXPORTER_OTLP_ENDPOINT (OTLP/HTTP, usually port 4318) and OTEL_EXPORTER_OTLP_HEADERS':
    '请检查 OTEL_EXPORTER_OTLP_ENDPOINT（OTLP/HTTP，通常为 4318 端口）和 OTEL_EXPORTER_OTLP_HEADERS',
  // Public address
  'Start Parley, then check that PUBLIC_URL leads to its PORT': '请启动 Parley，并确认 PUBLIC_URL 指向其 PORT',
  'nothing answers at {url} ({code})': '{url} 没有响应（{code}）',
  'Start Parley with the role receiver, and configure the proxy to forward /webhooks to its PORT':
    '请以 receiver 角色启动 Parley，并让反向代理将 /webhooks 转发到其 PORT',
  '{url} leads to another program: it does not have this SECRET_KEY': '{url} 指向其他程序：它没有这个 SECRET_KEY',
  'Stop the other program (perhaps an older Parley), or correct PUBLIC_URL or the proxy':
    '请停止该程序（可能是旧的 Parley），或改正 PUBLIC_URL 或反向代理',
  '{url} leads to Parley with these settings': '{url} 指向使用这些设置的 Parley',
  '{url} leads to a Parley with this key that was started with other settings':
    '{url} 指向使用此密钥、但以其他设置启动的 Parley',
  'Restart Parley, and check that all its processes read the same settings':
    '请重启 Parley，并确认所有进程读取相同的设置',
  '{address} is served and refuses unsigned requests': '{address} 可访问，并拒绝未签名的请求',
  'Run the role receiver there, and configure the proxy to forward POST requests unchanged':
    '请在该处运行 receiver 角色，并让反向代理原样转发 POST 请求',
  '{address} answers nothing': '{address} 没有响应',
  'redirect browsers in a loop: requests do not arrive with the host name of PUBLIC_URL':
    '浏览器被循环重定向：请求到达时的主机名不是 PUBLIC_URL 中的主机名',
  'Configure the proxy to forward the host (Host and X-Forwarded-Host), and set TRUSTED_PROXY_HOPS to the number of proxies':
    '请让反向代理转发主机名（Host 和 X-Forwarded-Host），并将 TRUSTED_PROXY_HOPS 设为代理层数',
  'Configure the proxy to forward /link, /sign-in, /oauth and /assets':
    '请让反向代理转发 /link、/sign-in、/oauth 和 /assets',
  'answer {status}': '返回 {status}',
  'answer nothing': '没有响应',
  'are served at this address': '可通过此地址访问',
  // Redis
  'is still loading its data': '仍在载入数据',
  'Run npm run check again in a minute': '请一分钟后重新运行 npm run check',
  'refuses the user or the password': '拒绝了用户名或密码',
  'Correct REDIS_URL: redis://USER:PASSWORD@HOST:PORT; omit USER for the default user':
    '请改正 REDIS_URL：redis://用户:密码@主机:端口；默认用户可省略用户名',
  'the master {master} {detail}': '主节点 {master} {detail}',
  'Correct REDIS_SENTINEL_NAME: the Redis command SENTINEL MASTERS lists the names':
    '请改正 REDIS_SENTINEL_NAME：可用 Redis 命令 SENTINEL MASTERS 查看名称',
  'does not know the master that REDIS_SENTINEL_NAME names': '没有 REDIS_SENTINEL_NAME 指定的主节点',
  'Correct REDIS_URL, or set REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD if the sentinels have different credentials from the master':
    '请改正 REDIS_URL；如果哨兵与主节点的凭证不同，请设置 REDIS_SENTINEL_USERNAME 和 REDIS_SENTINEL_PASSWORD',
  'presents a certificate that is not trusted': '出示的证书不受信任',
  'Set NODE_EXTRA_CA_CERTS to the file with your CA certificate, and check that the certificate names the host in REDIS_URL':
    '请将 NODE_EXTRA_CA_CERTS 设为 CA 证书文件，并确认证书包含 REDIS_URL 中的主机名',
  'does not answer': '没有响应',
  'Start it and check its host and port in REDIS_URL; if only the master or only the sentinels use TLS, set REDIS_SENTINEL_TLS':
    '请启动它，并检查 REDIS_URL 中的主机和端口；如果只有主节点或只有哨兵使用 TLS，请设置 REDIS_SENTINEL_TLS',
  'Start Redis and check the host, port, user and password in REDIS_URL':
    '请启动 Redis，并检查 REDIS_URL 中的主机、端口、用户名和密码',
  'answers, version {version}': '有响应，版本 {version}',
  'version {version} is too old': '版本 {version} 过旧',
  'Use 6.2 or newer': '请使用 6.2 或更新的版本',
  'append-only file is on': '已开启 AOF',
  'append-only file is off: restarting Redis loses messages': '未开启 AOF：重启 Redis 会丢失消息',
  'Set "appendonly yes" in Redis': '请在 Redis 中设置 "appendonly yes"',
  '{policy}: Redis would delete accepted messages when its memory is full':
    '{policy}：内存占满时，Redis 会删除已接收的消息',
  'Set "maxmemory-policy noeviction" in Redis': '请在 Redis 中设置 "maxmemory-policy noeviction"',
  // The service alone
  'API keys, applications and people are configured': 'API 密钥、应用和人员均已配置',
  'answers at {address}': '{address} 有响应',
  // Sign-in
  'Set SIGN_IN_URL to the base address of the CAS server; /login and /serviceValidate are appended':
    '请将 SIGN_IN_URL 设为 CAS 服务器的基础地址，Parley 会在其后加上 /login 和 /serviceValidate',
  'Check SIGN_IN_URL and that this machine can reach it': '请检查 SIGN_IN_URL，并确认本机可以访问',
  'refuses our address: its login page returns {status}': '拒绝我们的地址：其登录页面返回 {status}',
  'Register {url} as a service in CAS, with any query string, which carries the state':
    '请在 CAS 中将 {url} 登记为服务，并允许任意查询参数（用于携带 state）',
  'Do not use this server until it is fixed: anyone can sign in with an invented ticket':
    '修复之前请勿使用此服务器：任何人都可以用编造的票据登录',
  'accepts an invented ticket at {path}': '在 {path} 接受了编造的票据',
  'is a CAS server that validates tickets for our address at {path}': '是 CAS 服务器，在 {path} 为我们的地址校验票据',
  'Enable /serviceValidate as well: /validate returns neither names nor departments':
    '请同时启用 /serviceValidate：/validate 不返回姓名和部门',
  'refuses our address ({failure})': '拒绝我们的地址（{failure}）',
  'an unexpected reply': '意外的内容',
  'answers {failure} to an invented ticket': '对编造的票据返回{failure}',
  'no OpenID Connect discovery document at {address} ({status})': '{address} 没有 OpenID Connect 发现文档（{status}）',
  'Set SIGN_IN_URL to the exact issuer of the provider, or correct SIGN_IN_TYPE':
    '请将 SIGN_IN_URL 设为登录服务的 issuer 原值，或改正 SIGN_IN_TYPE',
  'accepts every tenant: any account of any tenant could sign in': '接受所有租户：任何租户的任何账号都能登录',
  'Set SIGN_IN_URL to the issuer of your tenant (Entra ID: {url})':
    '请将 SIGN_IN_URL 设为你的租户的 issuer（Entra ID：{url}）',
  'its issuer is {named}, but SIGN_IN_URL is {issuer}': '其 issuer 是 {named}，而 SIGN_IN_URL 是 {issuer}',
  'its discovery document names no issuer': '其发现文档中没有 issuer',
  'Set SIGN_IN_URL to exactly that issuer': '请将 SIGN_IN_URL 设为该 issuer 的原值',
  'its discovery document has no {fields}': '其发现文档中没有 {fields}',
  'Contact the operator of the provider: sign-in does not work without these fields':
    '请联系登录服务的管理员：缺少这些字段无法登录',
  'is an OpenID Connect provider that accepts our client and redirect address':
    '是 OpenID Connect 登录服务，接受我们的客户端和回调地址',
  'For sign-out, also register {url} as a post-logout redirect URI, if the provider asks for one':
    '如果登录服务要求登记退出后的回调地址，请同时登记 {url}',
  'does not sign id tokens with a public key': '没有用公钥算法签发 id token',
  'Configure the provider to sign with RS256 or ES256, or with HS256 and a client secret of at least 32 bytes':
    '请让登录服务使用 RS256 或 ES256 签名，或使用 HS256 和至少 32 字节的客户端密钥',
  'does not support the authorization code flow': '不支持授权码流程',
  'Allow the authorization code flow at the provider': '请在登录服务中允许授权码流程',
  'does not list PKCE with S256': '没有列出 PKCE（S256）',
  'Enable PKCE with S256 for this client': '请为此客户端启用 PKCE（S256）',
  'does not list the scope {scopes}': '没有列出 scope {scopes}',
  'Remove it from SIGN_IN_SCOPE, or add it at the provider': '请从 SIGN_IN_SCOPE 中移除，或在登录服务中添加',
  'supports offline_access, which SIGN_IN_SCOPE does not request': '支持 offline_access，但 SIGN_IN_SCOPE 没有请求',
  'Add it if the provider requires it for refresh tokens (Entra ID, Okta): without them accounts are not checked daily, and people sign in again after 30 days':
    '如果登录服务（如 Entra ID、Okta）需要它才签发 refresh token，请加上：没有 refresh token 就无法每天核验账号，用户 30 天后需要重新登录',
  'has no sign-out address': '没有退出登录的地址',
  'After /unlink people stay signed in at the provider; ignore this if that is intended':
    '使用 /unlink 后，用户在登录服务中仍保持登录；如果符合预期，可忽略',
  'its signing keys cannot be read (jwks_uri)': '无法读取其签名密钥（jwks_uri）',
  'Contact the operator of the provider: id tokens cannot be verified without its keys':
    '请联系登录服务的管理员：没有签名密钥就无法校验 id token',
  'refuses our client by {method}': '拒绝我们的客户端（{method}）',
  'Set SIGN_IN_CLIENT_AUTH={method}, which the provider accepts':
    '请设置 SIGN_IN_CLIENT_AUTH={method}，登录服务接受这种方式',
  'refuses our client': '拒绝我们的客户端',
  'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET to the values that the provider issued':
    '请将 SIGN_IN_CLIENT_ID 和 SIGN_IN_CLIENT_SECRET 改为登录服务签发的值',
  'returns browsers with an error ({error})': '让浏览器带着错误返回（{error}）',
  'Register the redirect address {url} for the client {client} at the provider':
    '请在登录服务中为客户端 {client} 登记回调地址 {url}',
  'returns {status} for our client and redirect address': '对我们的客户端和回调地址返回 {status}',
  'Allow the authorization code flow for SIGN_IN_CLIENT_ID at the provider':
    '请在登录服务中为 SIGN_IN_CLIENT_ID 允许授权码流程',
  'Remove unsupported scopes from SIGN_IN_SCOPE, or allow them for the client':
    '请从 SIGN_IN_SCOPE 中移除不支持的 scope，或为客户端允许它们',
  'an unknown error': '未知错误',
  'Contact the operator of the sign-in service': '请联系登录服务的管理员',
  '{url}/oauth2.0/authorize does not exist (404)': '{url}/oauth2.0/authorize 不存在（404）',
  'Correct SIGN_IN_URL: /oauth2.0/authorize is appended to it':
    '请改正 SIGN_IN_URL：Parley 会在其后加上 /oauth2.0/authorize',
  'Register the client SIGN_IN_CLIENT_ID with the redirect address {url} at the sign-in service':
    '请在登录服务中登记客户端 SIGN_IN_CLIENT_ID 及回调地址 {url}',
  'answers {status} for our client and redirect address': '对我们的客户端和回调地址返回 {status}',
  'To test a real sign-in, run npm run check -- --sign-in': '如需测试真实登录，请运行 npm run check -- --sign-in',
  'shows its sign-in page for our client and redirect address': '对我们的客户端和回调地址显示登录页面',
  // WeCom
  'Copy the secret of the self-built app into WECOM_AGENT_SECRET again':
    '请重新将自建应用的 Secret 复制到 WECOM_AGENT_SECRET',
  'Set WECOM_CORP_ID to the company id shown under "My Company"': '请将 WECOM_CORP_ID 设为“我的企业”中的企业 ID',
  'Set WECOM_AGENT_ID to the AgentId of the self-built app': '请将 WECOM_AGENT_ID 设为自建应用的 AgentId',
  'Enable web sign-in for the self-built app': '请为自建应用开启网页授权登录',
  'Set the host of PUBLIC_URL as the trusted domain of the self-built app':
    '请将 PUBLIC_URL 的域名设为自建应用的可信域名',
  'Add the people who will sign in to the self-built app’s visible range': '请将需要登录的人员加入自建应用的可见范围',
  'Add this machine’s outgoing address to the self-built app’s trusted IP list':
    '请将本机的出口 IP 加入自建应用的企业可信 IP',
  'token and EncodingAESKey have a valid format; to verify them, save the address /webhooks/wecom in WeCom’s console':
    'Token 和 EncodingAESKey 格式正确；在企业微信管理后台保存地址 /webhooks/wecom 即可验证',
  'not configured: no same-browser sign-in or private notices, and encrypted sender ids cannot be converted':
    '未配置：无法使用 same-browser 登录和私聊通知，也无法转换加密的发送者 ID',
  'Set WECOM_CORP_ID, WECOM_AGENT_ID and WECOM_AGENT_SECRET of a self-built app':
    '请设置自建应用的 WECOM_CORP_ID、WECOM_AGENT_ID 和 WECOM_AGENT_SECRET',
  'access token issued, web sign-in works': '已获取 access token，网页授权登录可用',
  'the web sign-in': '网页授权登录',
  'the access token': 'access token',
  'no usable answer: {error}': '没有可用的响应：{error}',
  'Check that this machine can reach WECOM_API_URL': '请确认本机可以访问 WECOM_API_URL',
  'Look up error {code} in WeCom’s list of error codes': '请在企业微信的错误码列表中查询 {code}',
  'WeCom refuses {what} (errcode {code})': '企业微信拒绝了{what}（errcode {code}）',
  'not tested: Redis did not return whether a running Parley holds the connection':
    '未测试：Redis 没有返回是否有正在运行的 Parley 占用连接',
  'Fix Redis first; see its line': '请先处理 Redis 的问题，见其结果',
  'another program is connected as this bot and receives its messages':
    '另一个程序正以此机器人的身份连接，并接收其消息',
  'Stop the other program or deployment, or give it its own bot': '请停止另一个程序或部署，或让它使用自己的机器人',
  'a running Parley holds the connection': '正在运行的 Parley 占用着连接',
  'WeCom accepts the bot’s credentials; no public address is needed for it':
    '企业微信接受机器人的凭证；此方式不需要公网地址',
  'WeCom refuses the bot’s id or secret (853000)': '企业微信拒绝了机器人的 ID 或 Secret（853000）',
  'In WeCom’s console set the bot’s API mode to the long connection, and copy its Bot ID and Secret into WECOM_BOT_ID and WECOM_BOT_SECRET (Token and EncodingAESKey are for WECOM_CONNECT=callback)':
    '请在企业微信管理后台将机器人的 API 模式设为长连接，并将 Bot ID 和 Secret 复制到 WECOM_BOT_ID 和 WECOM_BOT_SECRET（Token 和 EncodingAESKey 用于 WECOM_CONNECT=callback）',
  'no connection: {error}': '无法连接：{error}',
  'Check that this machine can reach WECOM_WS_URL on port 443, or set a proxy in HTTPS_PROXY':
    '请确认本机可以访问 WECOM_WS_URL 的 443 端口，或在 HTTPS_PROXY 中设置代理',
  // Slack
  'Slack refuses the bot token': 'Slack 拒绝了 bot token',
  "Copy the Bot User OAuth Token from the app's OAuth & Permissions page into SLACK_BOT_TOKEN":
    '请将应用 OAuth & Permissions 页面上的 Bot User OAuth Token 复制到 SLACK_BOT_TOKEN',
  'SLACK_MORE_WORKSPACES names {team}, which is the workspace of SLACK_BOT_TOKEN itself':
    'SLACK_MORE_WORKSPACES 中的 {team} 就是 SLACK_BOT_TOKEN 所在的工作区',
  'Remove {team} from SLACK_MORE_WORKSPACES: its messages would wait for an installation that it does not need':
    '请从 SLACK_MORE_WORKSPACES 中移除 {team}：否则它的消息会一直等待并不需要的安装',
  'the bot': '机器人',
  'its workspace': '其工作区',
  'all required scopes are granted, and no others': '已授予所需的全部权限，没有多余权限',
  'granted but never used: {scopes}': '已授予但从不使用：{scopes}',
  "Run npm run slack:manifest, paste config/slack-manifest.yaml into the app's App Manifest page, and reinstall the app":
    '请运行 npm run slack:manifest，将 config/slack-manifest.yaml 粘贴到应用的 App Manifest 页面，然后重新安装应用',
  'Redis did not return whether the app is installed there': 'Redis 没有返回应用是否已安装到该工作区',
  'Ask an administrator of that workspace to open {url}': '请该工作区的管理员打开 {url}',
  'the app is not installed there ({error})': '应用未安装到该工作区（{error}）',
  'Slack refuses its token': 'Slack 拒绝了它的 token',
  'Slack accepts the connection; no public address is needed for it': 'Slack 接受连接；此方式不需要公网地址',
  'Slack refuses the app-level token': 'Slack 拒绝了 app-level token',
  "Enable Socket Mode in the app's settings, and copy an app-level token with connections:write (Basic Information) into SLACK_APP_TOKEN":
    '请在应用设置中开启 Socket Mode，并将带 connections:write 的 app-level token（Basic Information 页面）复制到 SLACK_APP_TOKEN',
  'Slack did not answer': 'Slack 没有响应',
  'Check that this machine reaches {setting}': '请确认本机可以访问 {setting}',
  'an unexpected answer': '意外的响应',
  "Copy Client ID and Client Secret from the app's Basic Information page into SLACK_CLIENT_ID and SLACK_CLIENT_SECRET":
    '请将应用 Basic Information 页面上的 Client ID 和 Client Secret 复制到 SLACK_CLIENT_ID 和 SLACK_CLIENT_SECRET',
  'Slack refuses the client ({error})': 'Slack 拒绝了客户端（{error}）',
  'Slack refuses the sign-in ({error})': 'Slack 拒绝了登录（{error}）',
  'Slack’s keys for id tokens cannot be read': '无法读取 Slack 的 id token 密钥',
  "client id and secret are accepted; the app's OAuth & Permissions page must list the redirect URL {url} and the user scope openid":
    'Client ID 和 Secret 有效；应用的 OAuth & Permissions 页面须列出重定向地址 {url} 和用户权限 openid',
  'missing: {scopes}': '缺少：{scopes}',
  'names of mentioned public channels': '显示被提到的公开频道名',
  'the command {command}': '命令 {command}',
  'images and files': '图片和文件',
  'very long answers as a file': '以文件发送很长的回答',
  'names of mentioned private channels': '显示被提到的私密频道名',
  'direct messages from the bot': '机器人主动私信',
  'group chats': '群聊',
  'names on the sign-in page and of mentioned people': '登录页面上和被提到人员的姓名',
} as const;
