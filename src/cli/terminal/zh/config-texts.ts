/** Faults and warnings of settings and of the files that they name. A setting's name before a fault is kept. */
export const CONFIG_TEXTS = {
  'Parley cannot start: {count} setting to correct': 'Parley 无法启动：有 {count} 项设置需要改正',
  'Parley cannot start: {count} settings to correct': 'Parley 无法启动：有 {count} 项设置需要改正',
  'No service was checked. Correct these first, then run npm run check again.':
    '没有检查任何服务。请先改正以上设置，再运行 npm run check。',
  'warning: {text}': '警告：{text}',
  // Forms of values
  'must be one line of text': '必须是一行文字',
  'must be a name without spaces': '必须是不含空格的名称',
  'must be a host name or an IP address': '必须是主机名或 IP 地址',
  'must be a host': '必须是主机',
  'must be an account id': '必须是账号',
  'must be the IANA name of a time zone such as Asia/Shanghai': '必须是 IANA 时区名，例如 Asia/Shanghai',
  'must be a whole number from {least} to {most}': '必须是 {least} 到 {most} 之间的整数',
  'must be yes or no (true, false, on, off, 1 and 0 are accepted too)':
    '必须是 yes 或 no（也接受 true、false、on、off、1、0）',
  'must be {first}, {rest} or {last}': '必须是 {first}, {rest} 或 {last}',
  'must be {first} or {last}': '必须是 {first} 或 {last}',
  'must be the address of a proxy such as http://proxy.example.org:3128':
    '必须是代理地址，例如 http://proxy.example.org:3128',
  'must be a comma-separated list of name=value': '必须是以逗号分隔的 名称=值 列表',
  'must be a comma-separated list of {items}': '必须是以逗号分隔的列表：{items}',
  'model names': '模型名',
  hosts: '主机',
  'workspace ids such as T0123ABCD': '工作区 ID，例如 T0123ABCD',
  'identity codes such as JG,XS': '身份代码，例如 JG,XS',
  'must be an https address (http only for this machine) without user, query or fragment':
    '必须是 https 地址（仅本机可用 http），不含用户名、查询参数和片段',
  'must be an http or https address without user, query or fragment':
    '必须是 http 或 https 地址，不含用户名、查询参数和片段',
  'must be a number from 0 to 1': '必须是 0 到 1 之间的数',
  'must be a wss address (ws only for this machine) without user, query or fragment':
    '必须是 wss 地址（仅本机可用 ws），不含用户名、查询参数和片段',
  'must be space-separated scopes, openid among them': '必须是以空格分隔的 scope，其中包含 openid',
  'must be an https address without a path (http only for 127.0.0.1, [::1] and localhost)':
    '必须是不含路径的 https 地址（仅 127.0.0.1、[::1] 和 localhost 可用 http）',
  'must be an https or mailto address': '必须是 https 或 mailto 地址',
  'must be a redis:// or rediss:// address': '必须是 redis:// 或 rediss:// 地址',
  'must be exactly 32 bytes in base64; create one with: openssl rand -base64 32':
    '必须正好是 32 字节的 base64；可用以下命令生成：openssl rand -base64 32',
  'must look like field=id;prefix=;case=exact: the field is id or attributes.NAME, the case exact or ignore':
    '格式必须为 field=id;prefix=;case=exact：field 为 id 或 attributes.名称，case 为 exact 或 ignore',
  'must be same-browser, same-id or typed-code, or a proof for each platform such as wecom:same-browser,slack:same-id':
    '必须是 same-browser、same-id 或 typed-code，或为每个办公应用指定，例如 wecom:same-browser,slack:same-id',
  'must be a key of the Brave Search API': '必须是 Brave Search API 的密钥',
  "must be the app's Signing Secret": '必须是应用的 Signing Secret',
  'must be a bot token, which begins with xoxb-': '必须是以 xoxb- 开头的 bot token',
  "must be the app's Client ID, without spaces": '必须是应用的 Client ID，不含空格',
  'must be a name of at most 35 characters': '必须是不超过 35 个字符的名称',
  'must be a workspace id': '必须是工作区 ID',
  'must be an app-level token, which begins with xapp-': '必须是以 xapp- 开头的 app-level token',
  "must be the bot's Token: at most 32 letters and digits": '必须是机器人的 Token：不超过 32 个字母和数字',
  "must be the bot's EncodingAESKey: 43 letters and digits": '必须是机器人的 EncodingAESKey：43 个字母和数字',
  'must be the Bot ID, without spaces': '必须是 Bot ID，不含空格',
  "must be the long connection's Secret, without spaces": '必须是长连接的 Secret，不含空格',
  'must be the AgentId, a number': '必须是 AgentId（数字）',
  // Values that a parser has altered, names, the settings file
  '{name} is cut off at "#" in the settings file: put the value in single quotes if the # is part of it':
    '{name} 在设置文件中从“#”处被截断：如果 # 属于该值，请用单引号括起来',
  'contains the quotes around its value: docker --env-file and NAME_FILE keep quotes, so remove them':
    '的值包含外层引号：docker --env-file 和 NAME_FILE 会保留引号，请去掉',
  'begins or ends with a typographic quote: use straight quotes, or none': '的首尾是弯引号：请使用直引号，或不用引号',
  'begins or ends with a space or line break: remove it': '的首尾有空格或换行：请去掉',
  'contains a reference such as ${NAME}, which is not replaced: write the value itself':
    '包含 ${NAME} 这样的引用，它不会被替换：请直接填写值',
  'a byte order mark': '字节顺序标记（BOM）',
  '{name} has {text} before its name in the process environment and is ignored: remove it from the file':
    '{name} 在进程环境中的名称前有 {text}，因此被忽略：请从文件中去掉',
  'has no value in {path}: {advice}, or remove the line': '在 {path} 中没有值：{advice}，或删除该行',
  'create one with openssl rand -base64 32': '请用 openssl rand -base64 32 生成',
  'set a value': '请设置值',
  'is empty in the process environment and counts as unset': '在进程环境中为空，视为未设置',
  'names {path}, which cannot be read ({code}): correct the path, or unset it':
    '指定的 {path} 无法读取（{code}）：请改正路径，或取消设置',
  '{path} cannot be read ({code}): only settings in the environment apply':
    '无法读取 {path}（{code}）：只有环境变量中的设置生效',
  'is not set, and {path} cannot be read ({code}): give this user read permission':
    '未设置，且 {path} 无法读取（{code}）：请授予当前用户读取权限',
  '{file} is not read: move it to {path}, or set ENV_FILE=.env':
    '{file} 不会被读取：请移到 {path}，或设置 ENV_FILE=.env',
  'is set together with {name}: keep one of the two': '与 {name} 同时设置：请只保留其中一个',
  'names an empty file: write the value into it': '指定的文件为空：请将值写入其中',
  'names a file that cannot be read: correct the path or the permissions of the file':
    '指定的文件无法读取：请改正路径或文件权限',
  '{prefix}… is set but ignored: this version does not support {platform}':
    '已设置 {prefix}…，但被忽略：此版本不支持 {platform}',
  'is not a setting of Parley': '不是 Parley 的设置',
  'is not a setting of Parley; did you mean {name}?': '不是 Parley 的设置，你要用的是 {name} 吗？',
  'is set, but this version supports only {platforms}: unset it, or set the credentials of one of those':
    '已设置，但此版本只支持 {platforms}：请取消设置，或设置其中之一的凭证',
  // Rules between settings
  'is not set: the chat service is called without a key': '未设置：将不带密钥调用模型服务',
  'does not end in a version such as /v1: check the address': '没有以 /v1 这样的版本结尾：请检查地址',
  'is the default model, so there is no fallback: set another model': '就是默认模型，因此没有备用：请设为其他模型',
  'is typed-code: an attacker who persuades a person to share their code is signed in as them; use same-browser or same-id if possible':
    '为 typed-code：骗取他人验证码的攻击者会以其身份登录；请尽量使用 same-browser 或 same-id',
  'is not set: links sent to people work only on this machine': '未设置：发给用户的链接只能在本机打开',
  'No platform is configured: set {credentials}': '没有配置办公应用：请设置 {credentials}',
  'is yes: accepted messages can be lost': '为 yes：已接收的消息可能丢失',
  "is not set: pages link to PUBLIC_URL, which is the bot's address": '未设置：页面链接会指向机器人的地址 PUBLIC_URL',
  "is not set: mentions are recognised only if the bot's name in WeCom is Parley":
    '未设置：仅当机器人在企业微信中的名称为 Parley 时，才能识别 @ 它的消息',
  '{what}, but no platform is configured. Set {credentials}; for local mode set MESSENGER_PROTOCOL=wecom, or remove {names}':
    '{what}，但没有配置办公应用。请设置 {credentials}；如需本地模式，请设置 MESSENGER_PROTOCOL=wecom，或移除 {names}',
  '{what}, but no platform is configured. Set {credentials}; for local mode set MESSENGER_PROTOCOL=wecom':
    '{what}，但没有配置办公应用。请设置 {credentials}；如需本地模式，请设置 MESSENGER_PROTOCOL=wecom',
  'leads to another machine': '指向其他机器',
  'is production': '为 production',
  'is missing: {advice}': '未设置：{advice}',
  '{names} are required too, because a platform is configured; for local mode remove the empty line':
    '需要 {names}，因为配置了办公应用；如需本地模式，请删除空行',
  '{names} are required too, because a platform is configured; for local mode remove the empty lines':
    '需要 {names}，因为配置了办公应用；如需本地模式，请删除空行',
  "set it to the chat service's address, ending in /v1": '请设为模型服务的地址，以 /v1 结尾',
  'set it to the address of a Redis, such as redis://127.0.0.1:6379':
    '请设为 Redis 的地址，例如 redis://127.0.0.1:6379',
  'create one with: openssl rand -base64 32': '请用以下命令生成：openssl rand -base64 32',
  "set it to the sign-in service's address, or SIGN_IN to off": '请设为登录服务的地址，或将 SIGN_IN 设为 off',
  'set it to the value issued by the sign-in service at SIGN_IN_URL': '请设为 SIGN_IN_URL 的登录服务签发的值',
  '{reason}: unset it, or correct SIGN_IN_TYPE': '{reason}：请取消设置，或改正 SIGN_IN_TYPE',
  'the issuer': 'issuer',
  "the CAS server's base address": 'CAS 服务器的基础地址',
  'is {type}, which requires SIGN_IN_URL: set SIGN_IN_URL to {what}, or unset SIGN_IN_TYPE':
    '为 {type}，需要 SIGN_IN_URL：请将 SIGN_IN_URL 设为 {what}，或取消 SIGN_IN_TYPE',
  'cannot be absent with SIGN_IN_TYPE={type}, which always returns state: unset it':
    '在 SIGN_IN_TYPE={type} 时不能为 absent，因为总会返回 state：请取消设置',
  'has no effect with SIGN_IN_TYPE=cas, which has neither clients nor tokens':
    '在 SIGN_IN_TYPE=cas 时无效，因为 CAS 没有客户端和令牌',
  'lacks openid, which OpenID Connect requires: add it': '缺少 OpenID Connect 必需的 openid：请加上',
  'has no effect with SIGN_IN_TYPE=oidc, which uses seconds': '在 SIGN_IN_TYPE=oidc 时无效，因为其单位固定为秒',
  'has no effect with SIGN_IN_TYPE=cas, which has no tokens': '在 SIGN_IN_TYPE=cas 时无效，因为 CAS 没有令牌',
  'has an effect only with {setting}: set it too': '仅在 {setting} 时有效：请一并设置',
  '{names} requires it; set all of them or none': '{names} 需要它；请全部设置或全部不设',
  'requires SERVICE_OIDC_ISSUER or SERVICE_CAS_URL: set one of them, or unset this':
    '需要 SERVICE_OIDC_ISSUER 或 SERVICE_CAS_URL：请设置其中之一，或取消此项',
  'combines typed-code with another proof: remove typed-code, or use it alone':
    '将 typed-code 与其他方式并用：请移除 typed-code，或单独使用它',
  'names same-browser, which requires {needs}; {advice}': '包含 same-browser，它需要 {needs}；{advice}',
  'names same-browser, which requires {needs}': '包含 same-browser，它需要 {needs}',
  'or name a proof for each platform such as {example}': '或为每个办公应用指定方式，例如 {example}',
  'or set SIGN_IN_PROOF to same-id where platform user ids equal profile ids, or to typed-code':
    '或在成员账号与学工号相同时将 SIGN_IN_PROOF 设为 same-id，否则设为 typed-code',
  'set {needs} for same-browser, {otherwise}': '请为 same-browser 设置 {needs}，{otherwise}',
  'another platform than {platform}, which has no web sign-in here':
    '{platform} 以外的办公应用（它在此不支持网页登录）',
  'names {name}, which is not a platform; valid names are {names}': '包含 {name}，它不是办公应用；可用的名称有 {names}',
  'does not name {platform}, which is configured: add {name}:same-id or another proof':
    '没有包含已配置的{platform}：请加上 {name}:same-id 或其他方式',
  'combines typed-code for {platform} with another proof: remove typed-code, or use it alone':
    '为{platform}将 typed-code 与其他方式并用：请移除 typed-code，或单独使用它',
  'names same-browser for {platform}, which does not support web sign-in: use another proof':
    '为{platform}指定了 same-browser，但它不支持网页登录：请使用其他方式',
  'names same-browser for {platform}, which requires {needs}': '为{platform}指定了 same-browser，它需要 {needs}',
  'ends in {end}, which Parley appends: remove it, so that the address ends in /v1':
    '以 {end} 结尾，而 Parley 会自动加上：请去掉，使地址以 /v1 结尾',
  'is not in CHAT_MODELS: add it there, or choose one of them': '不在 CHAT_MODELS 中：请加入，或选择其中之一',
  'is above {name}: set it to at most that value': '大于 {name}：请设为不超过该值',
  'needs the sign-in service, but SIGN_IN is off: remove ADMIN_IDS or turn sign-in on':
    '需要登录服务，但 SIGN_IN 为 off：请删除 ADMIN_IDS 或启用登录',
  'has no effect without ADMIN_IDS: set ADMIN_IDS or remove ADMIN_PORT':
    '没有 ADMIN_IDS 时不起作用：请设置 ADMIN_IDS 或删除 ADMIN_PORT',
  'is the same as {name}: give each its own port': '与 {name} 相同：请使用不同的端口',
  'differs from PORT, but the service alone uses one port: set one of them, or both to the same value':
    '与 PORT 不同，但单独运行服务时只用一个端口：请只设置其中之一，或设为相同的值',
  "names messenger, which runs in local mode only: for local mode, unset ROLES and the platform's credentials":
    '包含 messenger，它只在本地模式运行：如需本地模式，请取消 ROLES 和办公应用的凭证',
  'REDIS_SENTINEL_NAME requires it: set it to the addresses of the sentinels':
    'REDIS_SENTINEL_NAME 需要它：请设为哨兵的地址',
  'requires {names}: set it too': '需要 {names}：请一并设置',
  'requires {names}: set them too': '需要 {names}：请一并设置',
  // Files
  '{setting} ({path}): {fault}': '{setting}（{path}）：{fault}',
  'is not valid JSON': '不是有效的 JSON',
  'is not valid YAML ({code}) at line {line}': '不是有效的 YAML（{code}），第 {line} 行',
  'a text': '文字',
  'a number': '数字',
  'a whole number': '整数',
  'true or false': 'true 或 false',
  'a list': '列表',
  'an object': '对象',
  'the file': '文件',
  'Unknown name: {names}; correct or remove it': '未知的名称：{names}；请改正或删除',
  'Must have at most {count} characters': '最多 {count} 个字符',
  'Must have at most {count}': '最多 {count} 项',
  'Has an unknown format; see docs/ for examples': '格式未知；示例见 docs/',
  'Has the wrong format; see docs/ for an example': '格式错误；示例见 docs/',
  'Must not be empty': '不能为空',
  'Must not be empty: name at least {count}': '不能为空：至少 {count} 项',
  'Must have at least {count} characters': '至少 {count} 个字符',
  'Must be at least {minimum}': '不能小于 {minimum}',
  'Is missing: must be {kind}': '缺少：必须是{kind}',
  'Must be {kind}, but is {other}': '必须是{kind}，实际是{other}',
  'An earlier source has the same name': '前面已有同名的来源',
  'Must contain a letter or a digit': '必须包含字母或数字',
  'Must have at least two words': '至少要有两个词',
  'Is already in {place}': '已在 {place} 中',
  'Must have one of {fields}': '必须包含以下之一：{fields}',
  'An earlier rule has the name {name}': '前面已有名为 {name} 的规则',
  'It never applies, because {name} before it matches everyone': '永远不会生效：前面的 {name} 匹配所有人',
  '{name} is not in CHAT_MODELS ({models})': '{name} 不在 CHAT_MODELS 中（{models}）',
  'Must be "all" or a list of models': '必须是 "all" 或模型列表',
  'This does not allow the use anywhere; if that is intended, write { "use": false }':
    '这样在任何地方都不允许使用；如果这是本意，请写 { "use": false }',
  'Must be true or false': '必须是 true 或 false',
  'An earlier scene has the name {name}': '前面已有名为 {name} 的场景',
  'It never applies, because {name} before it matches everyone everywhere':
    '永远不会生效：前面的 {name} 匹配所有人和所有地方',
  '{name} is not a {what}; available are {names}': '{name} 不是可用的{what}；可用的有 {names}',
  'model of CHAT_MODELS': '模型（CHAT_MODELS）',
  tool: '工具',
  platform: '办公应用',
  'Must be a string': '必须是文字',
  'Must be a string or a list of lines': '必须是文字或多行列表',
  'Must be off, low, high or max': '必须是 off、low、high 或 max',
  'Must be en or zh': '必须是 en 或 zh',
  'Must be brief or detailed': '必须是 brief 或 detailed',
  'Must be a string, or { "zh": …, "en": … }': '必须是文字，或 { "zh": …, "en": … }',
  'Must be a list of questions, or { "zh": […], "en": […] }': '必须是问题列表，或 { "zh": […], "en": […] }',
  'This does not enable the tool anywhere; if that is intended, write { "on": false }':
    '这样在任何地方都不启用该工具；如果这是本意，请写 { "on": false }',
  'There is no such tool; available are {names}': '没有这个工具；可用的有 {names}',
  'Must be a complete address such as https://parley.example.edu/oauth/callback, without a #':
    '必须是完整的地址，例如 https://parley.example.edu/oauth/callback，不含 #',
  'must be a name without spaces, of at most 200 characters': '必须是不含空格、不超过 200 个字符的名称',
  'must be the minimum and the maximum temperature, in that order': '必须依次是温度的最小值和最大值',
  'is listed twice': '重复列出',
  'needs MODELS_SECRET, which is not set': '需要 MODELS_SECRET，但没有设置',
  'must be printable ASCII text of at most 1,000 characters': '必须是可显示的 ASCII 文字，不超过 1,000 个字符',
  'must be ASCII text without spaces': '必须是不含空格的 ASCII 文字',
  'has more than {count} headers': '的请求头超过 {count} 个',
  'header {count} has an invalid name': '第 {count} 个请求头的名称无效',
  'must not set {name}': '不能设置 {name}',
  'sets {name} twice': '重复设置了 {name}',
  'Must be a string or a list of strings': '必须是文字或文字列表',
  'Must be private, group, or group followed by its id': '必须是 private、group，或 group 加群 ID',
  'contains no questions': '没有问题',
} as const;
