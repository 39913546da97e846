import type { SettingName } from './schema.ts';

/** A setting's description in Chinese. */
export interface ChineseInfo {
  meaning: string;
  /** The default in words, where the English one is in words. */
  default?: string;
}

/** Chinese titles of the groups and levels of settings. */
export const CHINESE_TITLES: Readonly<Record<string, string>> = {
  Process: '进程',
  'Redis and retention': 'Redis 与保存期限',
  Chat: '对话',
  'Sign-in': '登录',
  WeCom: '企业微信',
  Slack: 'Slack',
  'Local mode': '本地模式',
  'Reference service': '自带服务',
};

const EMBEDDED_OR_REQUIRED = '本地模式下为内置服务；否则必填';
const STANDARD_NAMES = '标准名称';
const DIRECTORY = '用人员列表登录';

/** Descriptions of all settings for `docs/zh-CN/SETTINGS.md`; the English ones are in the schema. */
export const SETTINGS_ZH: Readonly<Record<SettingName, ChineseInfo>> = {
  // Process
  PUBLIC_URL: {
    meaning: '浏览器和办公应用访问机器人的地址，不含路径；除本机外须为 https。',
  },
  PORT: { meaning: '机器人的 HTTP 端口。' },
  METRICS_PORT: {
    meaning: '机器人的 `/healthz`、`/readyz`、`/version` 和 `/metrics` 所用端口，代替 PORT。',
    default: 'PORT',
  },
  ADMIN_IDS: {
    meaning: '可以打开 PUBLIC_URL/admin 的管理员账号（学工号），以逗号分隔。',
    default: '无，即没有管理页面',
  },
  ADMIN_PORT: {
    meaning: '`/admin` 所用端口，代替 PORT；主机名与 PUBLIC_URL 相同。',
    default: 'PORT',
  },
  HOST: { meaning: '监听的地址。', default: '本地模式下为 127.0.0.1，否则为 0.0.0.0' },
  ROLES: {
    meaning: '此进程的角色，以逗号分隔：`receiver`、`worker`、`service`。设置后不再是本地模式。',
    default: 'receiver,worker；本地模式另有 service,messenger',
  },
  TRUSTED_PROXY_HOPS: {
    meaning: 'Parley 前面的代理层数，其 X-Forwarded-For 受信任。',
  },
  HTTPS_PROXY: { meaning: '访问其他机器的 https 地址时使用的代理（CONNECT）。也可写作 `https_proxy`。' },
  HTTP_PROXY: { meaning: '访问其他机器的 http 地址时使用的代理。也可写作 `http_proxy`。' },
  NO_PROXY: {
    meaning: '不经代理访问的域名、地址或网段。也可写作 `no_proxy`。',
    default: '仅本机',
  },
  SHUTDOWN_GRACE_SEC: {
    meaning: '收到 SIGTERM 后停止所用的秒数（正在生成的回答少 5 秒），须短于容器的停止超时。',
  },
  WEBHOOK_WINDOW_SEC: { meaning: '回调的时间戳与本机时钟最多相差的秒数。' },
  LOG_LEVEL: { meaning: '最低日志级别：`trace`、`debug`、`info`、`warn`、`error`、`fatal` 或 `silent`。' },
  LOG_FORMAT: {
    meaning: '`pretty` 便于阅读，`json` 便于日志系统收集。',
    default: '终端上为 pretty，否则为 json',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    meaning:
      '接收链路追踪的 OpenTelemetry Collector，使用 OTLP/HTTP（`http/protobuf`）。其他 `OTEL_*` 变量在进程环境中设置。',
    default: '无，即不追踪',
  },
  OTEL_EXPORTER_OTLP_HEADERS: { meaning: '发往 Collector 的请求头，写作 `名称=值`，以逗号分隔。', default: '无' },
  OTEL_SERVICE_NAME: { meaning: 'Parley 在链路追踪中的名称。' },
  OTEL_TRACES_SAMPLER: {
    meaning: '采样器；`parentbased_traceidratio` 按 OTEL_TRACES_SAMPLER_ARG 的比例追踪。',
  },
  OTEL_TRACES_SAMPLER_ARG: { meaning: '追踪的消息比例，从 0 到 1。' },
  // Redis and retention
  REDIS_URL: {
    meaning:
      'redis:// 或 rediss:// 地址。以逗号分隔的多个地址表示 Redis Cluster；设置了 REDIS_SENTINEL_NAME 时表示哨兵。',
    default: '本地模式下内置；否则必填',
  },
  REDIS_SENTINEL_NAME: { meaning: '受监控主节点的名称。' },
  REDIS_SENTINEL_USERNAME: {
    meaning: '哨兵的用户名，与 REDIS_URL 不同时设置；没有用户名时填 `default`。',
  },
  REDIS_SENTINEL_PASSWORD: { meaning: '哨兵的密码，与 REDIS_URL 不同时设置。' },
  REDIS_SENTINEL_TLS: { meaning: '连接哨兵是否使用 TLS：`yes`、`no`，或与主节点相同 `same`（rediss://）。' },
  REDIS_ALLOW_DATA_LOSS: { meaning: '`yes` 表示接受可能丢失消息的 Redis：未开启 AOF，或会淘汰数据。' },
  SECRET_KEY: {
    meaning: '加密所存数据的密钥：32 字节的 base64（`openssl rand -base64 32`）。',
    default: '本地模式下自动生成并保存在 DATA_DIR；否则必填',
  },
  SECRET_KEY_PREVIOUS: { meaning: '以前的密钥，以逗号分隔，只用于解密。' },
  QUEUE_SHARDS: { meaning: '唤醒队列的数量，用于在 Redis Cluster 上分摊负载。' },
  WORKER_CONCURRENCY: { meaning: '每个 worker 进程在 QUEUE_SHARDS 的每个队列上同时生成的回答数上限。' },
  TURN_MAX_CRASHES: { meaning: '一条消息至少使进程崩溃多少次后放弃并致歉。' },
  QUEUE_SOFT_WAITING: { meaning: '等待的对话超过此数时，回答变短，且不使用工具。' },
  QUEUE_HARD_WAITING: { meaning: '等待的对话超过此数时，请等待最久的人稍后再试。' },
  QUEUE_SOFT_AGE_SEC: { meaning: '还有其他人等待时，等待超过此秒数的回答会变短。' },
  QUEUE_HARD_AGE_SEC: { meaning: '还有其他人等待时，等待超过此秒数的人会被请稍后再试。' },
  LIMIT_PERSON_PER_MINUTE: { meaning: '每人每分钟在所有聊天中的消息数上限。' },
  LIMIT_CHAT_PER_MINUTE: { meaning: '每个聊天每分钟的消息数上限，所有人合计。' },
  LIMIT_SIGN_IN_FAILURES_PER_MINUTE: {
    meaning: '每个地址每分钟对登录页面的失败请求数上限。',
  },
  QUESTION_MAX_AGE_SEC: { meaning: '问题等待多少秒后不再回答并致歉。' },
  CANARY_SEC: {
    meaning: '为 `/readyz` 检测队列的探测问题的间隔秒数，例如 60；0 表示关闭。',
  },
  CONVERSATION_IDLE_SEC: { meaning: '对话空闲多少秒后结束，0 表示不结束。' },
  HISTORY_TTL_DAYS: { meaning: '没有新消息的对话保存的天数。' },
  FEEDBACK_TTL_DAYS: { meaning: '评价保存的天数（`npm run feedback`）。' },
  AUDIT: {
    meaning: '`yes`：除管理员的操作外，也记录登录、提问（不含正文）、拒绝和工具调用。',
  },
  AUDIT_DIR: {
    meaning: '存放审计记录的目录，所有 worker 须使用同一目录。`npm run admin -- audit verify` 检查其中的文件。',
    default: '无：最近的记录保存在 Redis 中',
  },
  AUDIT_QUESTION_DAYS: { meaning: '提问、拒绝和工具调用在审计记录中保存的天数。' },
  AUDIT_SIGN_IN_DAYS: { meaning: '登录、绑定和解除绑定在审计记录中保存的天数。' },
  AUDIT_ADMIN_DAYS: { meaning: '管理员的操作和删除证明在审计记录中保存的天数。' },
  AI_MARK: {
    meaning: '回答和文件回答的“由 AI 生成”标识：`yes`、`no` 或自定文字。',
  },
  FEEDBACK_TEXT: { meaning: '是否保存对回答的文字意见（加密）。' },
  UNANSWERED_TEXT: {
    meaning: '管理员能否查看未得到解答的问题原文，否则只有单个词语。',
  },
  // Chat
  CHAT_BASE_URL: { meaning: '对话接口的地址，以 /v1 结尾。', default: EMBEDDED_OR_REQUIRED },
  CHAT_API_KEY: { meaning: '对话接口的 API 密钥。' },
  CHAT_MODELS: {
    meaning: '可供选择的模型，以逗号分隔。',
    default: 'CHAT_BASE_URL 列出的对话模型；本地模式下为 svc-plus,svc-max',
  },
  CHAT_MODEL: {
    meaning: '没有选择模型的人使用的模型。',
    default: 'CHAT_MODELS 或 MODELS_FILE 中的第一个',
  },
  MODELS_FILE: {
    meaning: '描述每个模型的能力和请求选项的文件，机器人和服务共用。',
  },
  MODELS_SECRET: { meaning: '代入 MODELS_FILE 的 `headers` 中 `{secret}` 的值。' },
  CHAT_SEND_USER: { meaning: '`yes` 表示将账号的化名作为 `user` 发送给模型服务。' },
  CHAT_FALLBACK_MODEL: {
    meaning: '所选模型不可用时使用的 CHAT_MODELS 中的模型；无权使用它的人除外。',
    default: '无：请对方重试',
  },
  CHAT_SYSTEM_PROMPT_FILE: { meaning: '系统提示词文件。' },
  CHAT_PROMPT_TOKENS: {
    meaning: '一次请求的 token 数上限（约数），最多包含最近 50 轮对话。',
    default: '24000；带文件时取决于 MODELS_FILE 中的 `contextTokens`',
  },
  THINKING_SHOWN: {
    meaning: '在哪里显示模型的思考过程：`private`（仅私聊）、`everywhere` 或 `never`。',
  },
  MODERATION_WORDS_FILE: {
    meaning: '敏感词文件，每行一个：含有这些词的问题不予受理，回答不予显示。',
  },
  MODERATION_URL: {
    meaning: '内容审核服务：收到 `POST {"text","kind"}`（`prompt` 或 `answer`），须在 3 秒内返回 `{"allow":boolean}`。',
    default: '无',
  },
  MODERATION_AWAY: { meaning: 'MODERATION_URL 无响应时如何处理：`block` 拦截，`allow` 放行。' },
  MODERATION_MASK: {
    meaning:
      '隐去的信息，以逗号分隔：`id-number`（身份证号）、`phone`（手机号）、`card`（银行卡号）、`email`（邮箱）。',
    default: '不隐去',
  },
  MODERATION_MASK_IN: {
    meaning: 'MODERATION_MASK 的适用范围：`prompts`（发送给模型的内容）、`answers`（回答）或 `both`。',
  },
  PROMPTS_FILE: { meaning: '按语言列出推荐问题的文件。' },
  POLICY_FILE: { meaning: '规定谁可以使用机器人、使用哪些模型、在哪里使用的文件。' },
  SCENES_FILE: { meaning: '场景文件：按群、部门或办公应用设置说明、模型、工具等。' },
  TOOLS_FILE: { meaning: '规定模型可以调用哪些工具、为谁、在哪里的文件。' },
  KNOWLEDGE_FILE: { meaning: '机构的文档来源及其读者的文件。' },
  WEB_SEARCH_URL: {
    meaning: '工具 `web_search` 使用的 SearXNG。其 `search.formats` 须包含 json。',
    default: '无',
  },
  WEB_SEARCH_BRAVE_KEY: { meaning: 'Brave Search API 的密钥，代替 SearXNG。' },
  TIME_ZONE: {
    meaning: '机构所在的 IANA 时区，用于提示词、`current_time`、`/export` 和 `/usage`。',
    default: '进程的时区',
  },
  DEFAULT_LANGUAGE: { meaning: '尚不知道对方语言时使用的语言：`zh` 或 `en`。' },
  GROUP_SCOPE: {
    meaning: '在群里 @ 机器人时的对话：`member`（每人一个）或 `group`（全群一个）。',
  },
  THREAD_FOLLOW: {
    meaning: '`yes`：在 Slack 已回答的消息列里，三天内无需 @ 机器人即可继续提问。',
  },
  REPLY_MIN_EDIT_MS: { meaning: '两次更新回答之间至少间隔的毫秒数。', default: '办公应用的限制' },
  // Sign-in
  SIGN_IN: { meaning: '`required`（必须登录）、`optional`（可选）或 `off`（以成员账号为账号）。' },
  SIGN_IN_TYPE: { meaning: '登录服务的协议：`oauth2`（使用 /oauth2.0/authorize）、`oidc`（OpenID Connect）或 `cas`。' },
  SIGN_IN_URL: {
    meaning:
      '登录服务的地址：/oauth2.0/authorize 之前的部分（`oauth2`）、issuer 原值（`oidc`）或服务器的基础地址（`cas`）。',
    default: '本地模式下为内置服务；否则必填，SIGN_IN=off 时除外',
  },
  SIGN_IN_CLIENT_ID: { meaning: 'Parley 的客户端 ID。`cas` 不使用。' },
  SIGN_IN_CLIENT_SECRET: { meaning: 'Parley 的客户端密钥。' },
  SIGN_IN_CLIENT_AUTH: {
    meaning:
      '发送客户端密钥的方式：`client_secret_post`、`client_secret_basic`、`client_secret_basic_raw`（不做表单编码）或 `auto`（`oauth2` 用 post；`oidc` 在支持时用 basic）。',
  },
  SIGN_IN_SCOPE: {
    meaning: '请求的 scope。使用 `oidc` 时，有些登录服务需要 `offline_access` 才签发 refresh token。',
    default: '`SVC-Basic`；使用 `oidc` 时为 `openid profile`',
  },
  SIGN_IN_PROFILE_MAP_FILE: {
    meaning:
      '将 claim 或属性对应到资料字段的 JSON 文件。使用 `oauth2` 且名称不是 `id`、`active` 和 `client_id` 时需要。',
    default: STANDARD_NAMES,
  },
  SIGN_IN_STATE: { meaning: '登录服务是否返回 `state`：`required`，或不返回时 `absent`。' },
  SIGN_IN_PROOF: {
    meaning:
      '如何证明聊天的人就是登录的人：`same-browser`（办公应用的网页登录）、`same-id`（账号相同）、两者并用（以逗号分隔），或 `typed-code`（最弱）。也可按办公应用指定：`wecom:same-browser,slack:same-id`，多种方式用 `+` 连接。',
    default: '所有办公应用都有网页登录时为 same-browser；否则必填',
  },
  SIGN_IN_SAME_ID_RULE: {
    meaning:
      '`same-id` 的比对方法：资料字段 `field`（`id` 或 `attributes.名称`）、成员账号中的前缀 `prefix`、是否区分大小写 `case`（`exact` 或 `ignore`）。',
  },
  SIGN_IN_IDENTITY_CODES: { meaning: '可以登录的人员的身份类型，例如 `JG,XS`。' },
  SIGN_IN_EXPIRES_UNIT: { meaning: '`expires_in` 的单位：`seconds`（秒）、`milliseconds`（毫秒）或 `auto`。' },
  SIGN_IN_KEEP_TOKENS: { meaning: '关联后保存的令牌：`none`、`refresh`（用于每天核验账号）或 `both`。' },
  SIGN_IN_LINK_DAYS: {
    meaning: '使用 `cas` 或没有 refresh token 时，多少天后需要重新登录。学工号会重新分配时请调低。',
  },
  SIGN_IN_SERVICE_NAME: { meaning: '登录页面上的机构名称。', default: 'SIGN_IN_URL 的主机名' },
  SIGN_IN_HELP_URL: { meaning: '服务台的 https 或 mailto 地址。' },
  // WeCom
  WECOM_BOT_TOKEN: { meaning: '智能机器人的 Token，见其回调设置。' },
  WECOM_BOT_AES_KEY: { meaning: '智能机器人的 EncodingAESKey。' },
  WECOM_BOT_NAME: { meaning: '机器人的显示名称，用于识别群里 @ 它的消息。' },
  WECOM_CONNECT: {
    meaning:
      '企业微信如何传递消息：`callback`（调用 `/webhooks/wecom`）或 `connection`（Parley 主动连接，不需要公网地址）。',
  },
  WECOM_BOT_ID: { meaning: '智能机器人的 Bot ID，用于 `WECOM_CONNECT=connection`。' },
  WECOM_BOT_SECRET: { meaning: '智能机器人的 Secret，用于 `WECOM_CONNECT=connection`。' },
  WECOM_BUTTONS: {
    meaning:
      '每个回答是否带有常驻的*停止*和*重试*卡片。使用 `WECOM_CONNECT=connection` 时没有*停止*，并需要 `SIGN_IN_HELP_URL`。',
  },
  WECOM_CORP_ID: { meaning: '企业的 CorpId，用于企业微信内的登录和应用消息。' },
  WECOM_AGENT_ID: { meaning: '自建应用的 AgentId。' },
  WECOM_AGENT_SECRET: { meaning: '自建应用的 Secret。' },
  WECOM_API_URL: {
    meaning: '企业微信的服务端接口，用于私有部署和测试。',
    default: 'https://qyapi.weixin.qq.com；本地模式下为模拟的办公应用',
  },
  WECOM_WS_URL: {
    meaning: '企业微信的长连接，用于私有部署和测试。',
    default: 'wss://openws.work.weixin.qq.com；本地模式下为模拟的办公应用',
  },
  WECOM_OPEN_URL: {
    meaning: '企业微信的网页授权，用于私有部署和测试。',
    default: 'https://open.weixin.qq.com；本地模式下为模拟的办公应用',
  },
  // Slack
  SLACK_SIGNING_SECRET: { meaning: '应用的 Signing Secret，见其 Basic Information 页面。' },
  SLACK_BOT_TOKEN: { meaning: '应用的 Bot User OAuth Token（`xoxb-…`）。' },
  SLACK_CLIENT_ID: {
    meaning: '应用的 Client ID，用于 Slack 登录（`same-browser`）和多个工作区。',
  },
  SLACK_CLIENT_SECRET: { meaning: '应用的 Client Secret。' },
  SLACK_BOT_NAME: { meaning: '`npm run slack:manifest` 生成的清单中的应用名称。' },
  SLACK_MORE_WORKSPACES: {
    meaning: '其他可以在 `PUBLIC_URL/install/slack` 安装应用的工作区 ID。',
  },
  SLACK_CONNECT: {
    meaning: 'Slack 如何传递消息：`http`（调用 `/webhooks/slack`）或 `socket`（Parley 主动连接，不需要公网地址）。',
  },
  SLACK_APP_TOKEN: { meaning: 'app-level token（`xapp-…`，权限 `connections:write`），用于 `SLACK_CONNECT=socket`。' },
  SLACK_BUTTONS: { meaning: '回答是否带按钮：停止、重试、有帮助、没帮助。需要应用的 Interactivity。' },
  SLACK_REPLY: { meaning: '回答如何更新：`stream`（Slack 的流式消息）或 `edit`（编辑消息）。' },
  SLACK_API_URL: {
    meaning: 'Slack Web API，用于测试。',
    default: 'https://slack.com/api/；本地模式下为模拟的办公应用',
  },
  SLACK_OPEN_URL: {
    meaning: 'Slack 网页登录，用于测试。',
    default: 'https://slack.com；本地模式下为模拟的办公应用',
  },
  // Local mode
  DATA_DIR: { meaning: '存放 worker 的文档索引的文件夹，本地模式下还有 Redis 数据和生成的密钥。' },
  SERVICE_PORT: { meaning: '自带服务的端口。单独使用 `ROLES=service` 时与 PORT 相同。' },
  MESSENGER_PORT: { meaning: '模拟办公应用页面的端口。' },
  LOCAL_ENGINE_PORTS: {
    meaning: '模拟办公应用的页面在本机哪些端口上查找模型引擎。',
  },
  MESSENGER_PROTOCOL: { meaning: '本地模式模拟的办公应用：`wecom` 或 `slack`。' },
  // Reference service
  SERVICE_API_KEYS: {
    meaning: '对话接口的 API 密钥，以逗号分隔。本地模式下机器人使用第一个。',
    default: '本地模式下，或没有 REDIS_URL 或 SECRET_KEY 时，自动生成一个并保存在 DATA_DIR/keys.json；否则没有',
  },
  SERVICE_CLIENTS_FILE: { meaning: 'OAuth 客户端的 JSON 文件。', default: '本地模式下只有机器人；否则没有' },
  SERVICE_DIRECTORY_FILE: {
    meaning: '可以登录的人员的 JSON 文件。',
    default: '本地模式下为 config/people.json 或 examples/people.json；否则没有',
  },
  SERVICE_PUBLIC_URL: { meaning: 'PUBLIC_URL 是机器人的地址时，浏览器访问服务的地址。' },
  SERVICE_OIDC_ISSUER: { meaning: '机构的 OpenID Connect 登录服务的 issuer 原值。', default: DIRECTORY },
  SERVICE_OIDC_CLIENT_ID: { meaning: '服务在登录服务中的客户端 ID。' },
  SERVICE_OIDC_CLIENT_SECRET: { meaning: '服务在登录服务中的客户端密钥。' },
  SERVICE_OIDC_CLIENT_AUTH: { meaning: '发送 SERVICE_OIDC_CLIENT_SECRET 的方式，同 SIGN_IN_CLIENT_AUTH。' },
  SERVICE_OIDC_SCOPE: { meaning: '请求的 scope，以空格分隔。', default: 'openid 和 profile' },
  SERVICE_CAS_URL: { meaning: '机构的 CAS 服务器，代替 OpenID Connect。', default: DIRECTORY },
  SERVICE_PROFILE_MAP_FILE: { meaning: '将 claim 或属性对应到资料字段的 JSON 文件。', default: STANDARD_NAMES },
  SERVICE_IDENTITY_NAME: { meaning: '按钮上显示的机构登录名称。', default: '你的机构' },
  SERVICE_UPSTREAM_URL: {
    meaning: '代替内置模型的引擎，须兼容 OpenAI。',
    default: '小型内置模型',
  },
  SERVICE_UPSTREAM_KEY: { meaning: '引擎的 API 密钥。' },
  SERVICE_UPSTREAM_MODELS: { meaning: '服务的每个模型名对应的引擎模型。', default: '名称相同' },
  SERVICE_RELAYED_FIELDS: { meaning: '另外转发给引擎的请求字段，以逗号分隔。', default: '仅标准字段' },
  SERVICE_IMAGE_ADDRESSES: { meaning: '请求中是否可以包含由引擎获取的图片地址。' },
  SERVICE_ACCESS_TOKEN_SEC: { meaning: 'access token 的有效期，单位为秒。' },
  SERVICE_REFRESH_TOKEN_SEC: { meaning: 'refresh token 的有效期，单位为秒。' },
};
