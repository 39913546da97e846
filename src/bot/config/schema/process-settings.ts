import { DAY_MS, SECOND_MS } from '../../../shared/clock.ts';
import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

/** The longest a repeat delivery is remembered, so no older delivery may be let in (SECURITY.md time-window). */
const REMEMBERED_SEC = DAY_MS / SECOND_MS;
const port = kinds.wholeNumber(1, 65_535);

/** The process: where it listens, what it runs, how it ends, what it logs. */
export const processSettings = {
  PORT: setting(port, '8080', "Port of the bot's HTTP."),
  HOST: optional(kinds.textLike(/^[\w.:-]+$/, 'must be a host name or an IP address'), {
    meaning: 'Address that it listens on.',
    default: '127.0.0.1 in local mode, else 0.0.0.0',
    example: '0.0.0.0',
  }),
  PUBLIC_URL: optional(kinds.publicOrigin, {
    meaning:
      'How browsers and platforms reach the bot. Must be https unless its host is 127.0.0.1, [::1] or localhost, since browsers drop the sign-in cookies on other plain http.',
    default: 'http://127.0.0.1:PORT',
    example: 'https://parley.example.org',
  }),
  ROLES: optional(kinds.listOfWords('receiver', 'worker', 'service', 'messenger'), {
    meaning:
      'Parts that this process runs, comma-separated: `receiver`, `worker`, `service`. Setting it ends local mode.',
    default: 'receiver,worker; local mode adds service,messenger',
    example: 'receiver,worker',
  }),
  TRUSTED_PROXY_HOPS: setting(
    kinds.wholeNumber(0, 10),
    '0',
    'Proxies in front of Parley whose X-Forwarded-For entry is believed. With 0 the limits count the address of the socket.',
  ),
  HTTPS_PROXY: secret(kinds.proxyAddress, {
    meaning:
      'Proxy through which https addresses of other machines are reached (CONNECT): chat, sign-in, platforms, tools. Also read as `https_proxy`.',
    default: 'none',
    example: 'http://proxy.example.org:3128',
  }),
  HTTP_PROXY: secret(kinds.proxyAddress, {
    meaning: 'The same for http addresses. Also read as `http_proxy`.',
    default: 'none',
    example: 'http://proxy.example.org:3128',
  }),
  NO_PROXY: optional(kinds.listOf(kinds.textLike(/^[\w.:*/[\]-]+$/, 'must be a host'), 'hosts'), {
    meaning:
      'Hosts that are reached without the proxy: names with all below them, addresses, networks such as 10.0.0.0/8. This machine always is. Also read as `no_proxy`.',
    default: 'this machine alone',
    example: '.example.org,10.0.0.0/8',
  }),
  WEBHOOK_WINDOW_SEC: setting(
    kinds.wholeNumber(1, REMEMBERED_SEC),
    '300',
    "Seconds that a delivery's timestamp may differ from our clock; at most the day for which repeats are recognised.",
  ),
  SHUTDOWN_GRACE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '30',
    'Seconds that running answers get to end after SIGTERM. Keep the stop timeout of the container above it.',
  ),
  LOG_LEVEL: setting(
    kinds.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Least level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  ),
  LOG_FORMAT: optional(kinds.oneOf('pretty', 'json'), {
    meaning: '`pretty` for people, `json` (one object a line) for collectors.',
    default: 'pretty on a terminal, else json',
    example: 'json',
  }),
};

/** What only local mode uses. */
export const localSettings = {
  DATA_DIR: setting(
    kinds.text,
    './data',
    "Folder of what a process keeps on disk: a worker's index of the documents; in local mode also the embedded Redis' data and the keys that it makes.",
  ),
  SERVICE_PORT: setting(port, '8081', 'Port of the reference service; with `ROLES=service` alone the same as PORT.'),
  MESSENGER_PORT: setting(port, '8082', "Port of the messenger's page."),
  MESSENGER_PROTOCOL: setting(
    kinds.oneOf('wecom', 'slack'),
    'wecom',
    'Platform that local mode plays, and that the bot then serves: `wecom` or `slack`.',
  ),
};

/** Redis, the queue, and what is kept for how long. */
export const storeSettings = {
  REDIS_URL: secret(kinds.listOf(kinds.redisAddress, 'redis:// or rediss:// addresses'), {
    meaning:
      'redis:// or rediss:// address. A comma-separated list means Redis Cluster, or sentinels when REDIS_SENTINEL_NAME is set.',
    default: 'embedded in local mode; required otherwise',
    example: 'redis://127.0.0.1:6379',
  }),
  REDIS_SENTINEL_NAME: optional(kinds.text, {
    meaning: 'Name of the master that the sentinels watch.',
    example: 'mymaster',
  }),
  REDIS_SENTINEL_USERNAME: optional(kinds.text, {
    meaning:
      'User at the sentinels, where it differs from that in REDIS_URL; `default` for sentinels without users or a password.',
    example: 'default',
  }),
  REDIS_SENTINEL_PASSWORD: secret(kinds.text, {
    meaning: 'Password of the sentinels, where it differs from that in REDIS_URL.',
  }),
  REDIS_SENTINEL_TLS: setting(
    kinds.oneOf('same', 'yes', 'no'),
    'same',
    'Whether the sentinels speak TLS: `same` as the master, which does with rediss:// in REDIS_URL.',
  ),
  REDIS_ALLOW_DATA_LOSS: setting(
    kinds.yesOrNo,
    'no',
    '`yes` starts even though Redis keeps no append-only file or may evict keys: accepted messages can then be lost.',
  ),
  SECRET_KEY: secret(kinds.secretKey, {
    meaning: 'Key that encrypts tokens and conversations at rest: 32 bytes in base64 (`openssl rand -base64 32`).',
    default: 'made and kept in DATA_DIR in local mode; required otherwise',
  }),
  SECRET_KEY_PREVIOUS: secret(kinds.listOf(kinds.secretKey, 'keys of 32 bytes in base64'), {
    meaning: 'Former keys, comma-separated: they still read what they wrote, while SECRET_KEY writes.',
    isNoneWhenEmpty: true,
  }),
  QUEUE_SHARDS: setting(
    kinds.wholeNumber(1, 64),
    '1',
    'Number of queues that the wake-ups are spread over, for Redis Cluster.',
  ),
  WORKER_CONCURRENCY: setting(
    kinds.wholeNumber(1, 10_000),
    '200',
    'Answers in the making at once in one worker process.',
  ),
  QUEUE_SOFT_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '200',
    'Conversations of the whole deployment that may wait for a worker before answers get shorter and do without tools.',
  ),
  QUEUE_HARD_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '2000',
    'Conversations that may wait before those that have waited longest are told to try again later.',
  ),
  QUEUE_SOFT_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '20',
    'Seconds that a message may have waited for a worker, while others still wait, before its answer gets shorter.',
  ),
  QUEUE_HARD_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '300',
    'Seconds after which, while others still wait, it is answered with a request to try again later.',
  ),
  TURN_MAX_CRASHES: setting(
    kinds.wholeNumber(1, 100),
    '5',
    'Crashes of the process after which a message is given up with an apology.',
  ),
  CONVERSATION_IDLE_SEC: setting(
    kinds.wholeNumber(0, 31_536_000),
    '28800',
    'Seconds without a question after which a conversation has ended: the next question begins a new one, and says so. 0 lets none end.',
  ),
  HISTORY_TTL_DAYS: setting(kinds.wholeNumber(1, 3_650), '30', 'Days that an untouched conversation is remembered.'),
  FEEDBACK_TTL_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '90',
    'Days that what somebody thinks of an answer is kept, with the model and the rule of the policy that gave it (`npm run feedback`).',
  ),
  FEEDBACK_TEXT: setting(
    kinds.yesOrNo,
    'no',
    'Whether what people write about an answer is kept as well, sealed; unless told their verdict and its reasons are.',
  ),
};
