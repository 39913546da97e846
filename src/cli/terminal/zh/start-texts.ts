/** The start: banner, problems, hints, and why Parley cannot start. */
export const START_TEXTS = {
  'Parley is running in local mode.': 'Parley 正在本地模式运行。',
  'Parley is running.': 'Parley 正在运行。',
  'Parley has started in local mode, but not all of it works yet:': 'Parley 已在本地模式启动，但还有部分功能不可用：',
  'Parley has started, but not all of it works yet:': 'Parley 已启动，但还有部分功能不可用：',
  "chat key   {key}  (for the service's /v1; stored in {path})": 'chat key   {key}  （用于服务的 /v1，保存在 {path}）',
  'Hint: {text}': '提示：{text}',
  'Reached at {url}': '访问地址：{url}',
  'Open {url} in a browser, choose a user, and write to the bot.':
    '请在浏览器中打开 {url}，选择一个用户，给机器人发消息。',
  'Open {url} in a browser, choose a user, and write to the bot. Your browser opens it automatically.':
    '请在浏览器中打开 {url}（会自动打开），选择一个用户，给机器人发消息。',
  'Press Ctrl+C to stop. Conversations are stored in {path}.': '按 Ctrl+C 停止。对话保存在 {path}。',
  'Enable Socket Mode in the Slack app; no address has to be saved there':
    '请在 Slack 应用中开启 Socket Mode；无需在其中保存地址',
  'In the Slack app under Event Subscriptions, save: {url}': '请在 Slack 应用的 Event Subscriptions 中保存：{url}',
  'Set the API mode of the WeCom bot to the long connection; no address has to be saved there':
    '请将企业微信机器人的 API 模式设为长连接；无需在其中保存地址',
  "In WeCom's console, save as the bot's callback URL: {url}": '请在企业微信管理后台将机器人的回调 URL 设为：{url}',
  '{setting} {port} is taken by {holder}, so {other} is used.': '{setting} {port} 已被{holder}占用，改用 {other}。',
  'Waiting for the last calls to the chat app, for at most {count} seconds. Press Ctrl+C again to stop immediately.':
    '正在等待对办公应用的最后几次调用，最多 {count} 秒。再按一次 Ctrl+C 立即停止。',
  'The running answer is being finished, for at most {count} seconds. Press Ctrl+C again to stop immediately.':
    '正在完成当前的回答，最多 {count} 秒。再按一次 Ctrl+C 立即停止。',
  '{answers} running answers are being finished, for at most {count} seconds. Press Ctrl+C again to stop immediately.':
    '正在完成 {answers} 条回答，最多 {count} 秒。再按一次 Ctrl+C 立即停止。',
  // Failures
  'Parley cannot start: {error}. Set LOG_LEVEL=debug for details':
    'Parley 无法启动：{error}。设置 LOG_LEVEL=debug 可查看详情',
  '{fault}. Check that redis-server is installed and that the redis folder in DATA_DIR is writable, or set REDIS_URL':
    '{fault}。请确认已安装 redis-server，且 DATA_DIR 中的 redis 文件夹可写，或设置 REDIS_URL',
  'redis-server could not be started: install redis-server or set REDIS_URL':
    '无法启动 redis-server：请安装 redis-server，或设置 REDIS_URL',
  'redis-server ended immediately (exit {code})': 'redis-server 启动后立即退出（退出码 {code}）',
  'redis-server did not become ready within 60 s': 'redis-server 未能在 60 秒内就绪',
  'The embedded redis-server ended twice within a minute: check the redis folder in DATA_DIR and the disk, or set REDIS_URL.':
    '内置的 redis-server 在一分钟内退出了两次：请检查 DATA_DIR 中的 redis 文件夹和磁盘，或设置 REDIS_URL。',
  '{setting} {port} is taken by {holder}: stop that program, or set {name} to another port':
    '{setting} {port} 已被{holder}占用：请停止该程序，或将 {name} 设为其他端口',
  '{setting} {port} requires privileges that this user does not have: set {name} to a port above 1023':
    '{setting} {port} 需要当前用户没有的权限：请将 {name} 设为大于 1023 的端口',
  'HOST {host} is not an address of this machine: set HOST to one of its addresses, or to 0.0.0.0 for all of them':
    'HOST {host} 不是本机地址：请将 HOST 设为本机地址，或设为 0.0.0.0 以监听所有地址',
  'Another Parley is using {path}: stop {holder}, or set DATA_DIR to another folder':
    '另一个 Parley 正在使用 {path}：请停止{holder}，或将 DATA_DIR 设为其他文件夹',
  it: '它',
  'No socket can be created in the temporary folder': '无法在临时文件夹中创建 socket',
  'The folder {path} belongs to another user: set DATA_DIR to one of your own, or change its owner with chown':
    '文件夹 {path} 属于其他用户：请将 DATA_DIR 设为自己的文件夹，或用 chown 更改所有者',
  'Every user can write to the folder {path}: run chmod 700 {name}, or set DATA_DIR to another folder':
    '所有用户都可写入文件夹 {path}：请运行 chmod 700 {name}，或将 DATA_DIR 设为其他文件夹',
  'The folder {path} is not writable: set DATA_DIR to a writable folder':
    '文件夹 {path} 不可写：请将 DATA_DIR 设为可写的文件夹',
  '{path} cannot be read: restore it, or delete its folder to start with empty data':
    '无法读取 {path}：请恢复该文件，或删除其文件夹以从空数据开始',
  // Dependencies
  'Redis refuses the user or the password in REDIS_URL: no message can be accepted or answered. Parley keeps trying.':
    'Redis 拒绝了 REDIS_URL 中的用户名或密码：无法接收和回答消息。Parley 会继续尝试。',
  'Redis does not answer at {places}: no message can be accepted or answered. Start Redis or correct REDIS_URL; Parley keeps trying.':
    'Redis（{places}）没有响应：无法接收和回答消息。请启动 Redis 或改正 REDIS_URL；Parley 会继续尝试。',
  'Redis answers.': 'Redis 已有响应。',
  'The chat service does not answer at {url} ({code}): no question can be answered. Start the service or correct CHAT_BASE_URL; Parley calls it again for each question.':
    '模型服务 {url} 没有响应（{code}）：无法回答问题。请启动服务或改正 CHAT_BASE_URL；每次提问时 Parley 会再次调用。',
  'The chat service refuses CHAT_API_KEY ({status}): no question can be answered. Set CHAT_API_KEY to a valid key.':
    '模型服务拒绝了 CHAT_API_KEY（{status}）：无法回答问题。请将 CHAT_API_KEY 设为有效的密钥。',
  'The chat service returns {status}: contact its operator. Parley calls it again for each question.':
    '模型服务返回 {status}：请联系其管理员。每次提问时 Parley 会再次调用。',
  '{url}/models does not exist (404), so questions probably cannot be answered. Check that CHAT_BASE_URL ends in /v1.':
    '{url}/models 不存在（404），可能无法回答问题。请确认 CHAT_BASE_URL 以 /v1 结尾。',
  'The chat service does not list the model {model}, so it probably cannot answer. Choose {settings} from: {models}.':
    '模型服务的列表中没有 {model}，可能无法回答。请从以下模型中选择 {settings}：{models}。',
  'The chat service answers.': '模型服务已有响应。',
  '{models} is not in MODELS_FILE, so it can use text and tools, but no images or thinking. Run npm run check for suggested entries.':
    '{models} 不在 MODELS_FILE 中，只能使用文字和工具，不能使用图片和思考。运行 npm run check 可查看建议条目。',
  '{models} are not in MODELS_FILE, so they can use text and tools, but no images or thinking. Run npm run check for suggested entries.':
    '{models} 不在 MODELS_FILE 中，只能使用文字和工具，不能使用图片和思考。运行 npm run check 可查看建议条目。',
  "{file} does not exist, so Parley's own policy applies: everyone may use the bot, with every model and in every chat.":
    '{file} 不存在，因此使用 Parley 自带的策略：所有人都可以在任何聊天中使用机器人和任何模型。',
  'No one can sign in. {fault}': '无法登录。{fault}',
  'Sign-in may not work. {warning}': '登录可能不可用。{warning}',
  'The sign-in service answers.': '登录服务已有响应。',
  '{host} does not resolve on this machine, but the chat app and browsers use PUBLIC_URL. Correct PUBLIC_URL, or add the name to the DNS.':
    '本机无法解析 {host}，而办公应用和浏览器要使用 PUBLIC_URL。请改正 PUBLIC_URL，或在 DNS 中添加该域名。',
  'The host name in PUBLIC_URL resolves.': 'PUBLIC_URL 中的主机名已可解析。',
  '{app} accepts our calls.': '{app} 已接受我们的调用。',
  'Every call of the chat interface gets 401 because no API key is configured: set SERVICE_API_KEYS.':
    '对话接口的所有调用都会得到 401，因为没有配置 API 密钥：请设置 SERVICE_API_KEYS。',
  'No application can request a sign-in: create config/clients.json, a list of {fields}, and set SERVICE_CLIENTS_FILE=config/clients.json.':
    '没有应用可以请求登录：请创建 config/clients.json（{fields} 的列表），并设置 SERVICE_CLIENTS_FILE=config/clients.json。',
  'No one can sign in: create config/directory.json, a list of people as described in docs/reference/SERVICE.md, and set SERVICE_DIRECTORY_FILE=config/directory.json (npm run hash-password creates the password strings), or set SERVICE_OIDC_ISSUER or SERVICE_CAS_URL.':
    '无人可以登录：请按 docs/reference/SERVICE.md 创建人员列表 config/directory.json，并设置 SERVICE_DIRECTORY_FILE=config/directory.json（密码串用 npm run hash-password 生成），或设置 SERVICE_OIDC_ISSUER 或 SERVICE_CAS_URL。',
} as const;
