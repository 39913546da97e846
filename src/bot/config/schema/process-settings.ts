import { DAY_MS, SECOND_MS } from '../../../shared/clock.ts';
import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

/** Seconds for which repeated deliveries are recognised; older deliveries must not be accepted (SECURITY.md time-window). */
const REMEMBERED_SEC = DAY_MS / SECOND_MS;
const port = kinds.wholeNumber(1, 65_535);

/** The process: addresses, roles, shutdown and logging. */
export const processSettings = {
  PORT: setting(port, '8080', 'HTTP port of the bot.', 'common'),
  HOST: optional(kinds.textLike(/^[\w.:-]+$/, 'must be a host name or an IP address'), {
    meaning: 'Address to listen on.',
    default: '127.0.0.1 in local mode, else 0.0.0.0',
    example: '0.0.0.0',
    level: 'common',
  }),
  PUBLIC_URL: optional(kinds.publicOrigin, {
    meaning:
      'Address at which browsers and platforms reach the bot. Must be https unless its host is 127.0.0.1, [::1] or localhost, because browsers drop the sign-in cookies on other plain http.',
    default: 'http://127.0.0.1:PORT',
    example: 'https://parley.example.org',
    level: 'first',
  }),
  ROLES: optional(kinds.listOfWords('receiver', 'worker', 'service', 'messenger'), {
    meaning:
      'Parts that this process runs, comma-separated: `receiver`, `worker`, `service`. Setting it turns local mode off.',
    default: 'receiver,worker; local mode adds service,messenger',
    example: 'receiver,worker',
    level: 'common',
  }),
  TRUSTED_PROXY_HOPS: setting(
    kinds.wholeNumber(0, 10),
    '0',
    'Number of proxies in front of Parley. Parley then trusts that many trailing X-Forwarded-For entries. With 0 the limits use the address of the connection.',
    'common',
  ),
  HTTPS_PROXY: secret(kinds.proxyAddress, {
    meaning:
      'Proxy for https requests to other machines (CONNECT): chat, sign-in, platforms, tools. Also read as `https_proxy`.',
    default: 'none',
    example: 'http://proxy.example.org:3128',
    level: 'common',
  }),
  HTTP_PROXY: secret(kinds.proxyAddress, {
    meaning: 'Proxy for http requests to other machines. Also read as `http_proxy`.',
    default: 'none',
    example: 'http://proxy.example.org:3128',
  }),
  NO_PROXY: optional(kinds.listOf(kinds.textLike(/^[\w.:*/[\]-]+$/, 'must be a host'), 'hosts'), {
    meaning:
      'Hosts to reach without the proxy: domain names (with all subdomains), addresses, or networks such as 10.0.0.0/8. This machine is always included. Also read as `no_proxy`.',
    default: 'this machine only',
    example: '.example.org,10.0.0.0/8',
    level: 'common',
  }),
  WEBHOOK_WINDOW_SEC: setting(
    kinds.wholeNumber(1, REMEMBERED_SEC),
    '300',
    "Maximum difference between a delivery's timestamp and the local clock, in seconds. At most one day, the time for which repeated deliveries are recognised.",
  ),
  SHUTDOWN_GRACE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '30',
    "Seconds for running answers to finish after SIGTERM. The container's stop timeout must be longer.",
    'common',
  ),
  LOG_LEVEL: setting(
    kinds.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Minimum level of log entries: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    'common',
  ),
  LOG_FORMAT: optional(kinds.oneOf('pretty', 'json'), {
    meaning: '`pretty` for people, `json` (one object per line) for log collectors.',
    default: 'pretty on a terminal, else json',
    example: 'json',
    level: 'common',
  }),
};

/** Settings of local mode, and the data directory. */
export const localSettings = {
  DATA_DIR: setting(
    kinds.text,
    './data',
    "Directory for data on disk: a worker's document index; in local mode also the data of the embedded Redis and the generated keys.",
    'common',
  ),
  SERVICE_PORT: setting(
    port,
    '8081',
    'Port of the reference service. With `ROLES=service` alone it means the same as PORT.',
  ),
  MESSENGER_PORT: setting(port, '8082', "Port of the messenger's page."),
  MESSENGER_PROTOCOL: setting(
    kinds.oneOf('wecom', 'slack'),
    'wecom',
    'Platform that the messenger of local mode simulates and that the bot serves: `wecom` or `slack`.',
    'common',
  ),
};

/** Redis, the queue and retention. */
export const storeSettings = {
  REDIS_URL: secret(kinds.listOf(kinds.redisAddress, 'redis:// or rediss:// addresses'), {
    meaning:
      'redis:// or rediss:// address. A comma-separated list means Redis Cluster, or sentinels if REDIS_SENTINEL_NAME is set.',
    default: 'embedded in local mode; required otherwise',
    example: 'redis://127.0.0.1:6379',
    level: 'first',
  }),
  REDIS_SENTINEL_NAME: optional(kinds.text, {
    meaning: 'Name of the master that the sentinels monitor.',
    example: 'mymaster',
  }),
  REDIS_SENTINEL_USERNAME: optional(kinds.text, {
    meaning:
      'User name for the sentinels, if it differs from REDIS_URL; `default` for sentinels without users or a password.',
    example: 'default',
  }),
  REDIS_SENTINEL_PASSWORD: secret(kinds.text, {
    meaning: 'Password for the sentinels, if it differs from REDIS_URL.',
  }),
  REDIS_SENTINEL_TLS: setting(
    kinds.oneOf('same', 'yes', 'no'),
    'same',
    'Whether the sentinels use TLS: `yes`, `no`, or `same` as the master (TLS if REDIS_URL begins with rediss://).',
  ),
  REDIS_ALLOW_DATA_LOSS: setting(
    kinds.yesOrNo,
    'no',
    '`yes` starts Parley even if Redis has no append-only file or may evict keys. Accepted messages can then be lost.',
  ),
  SECRET_KEY: secret(kinds.secretKey, {
    meaning: 'Key that encrypts tokens and conversations at rest: 32 bytes in base64 (`openssl rand -base64 32`).',
    default: 'generated and stored in DATA_DIR in local mode; required otherwise',
    level: 'first',
  }),
  SECRET_KEY_PREVIOUS: secret(kinds.listOf(kinds.secretKey, 'keys of 32 bytes in base64'), {
    meaning: 'Former keys, comma-separated. They only decrypt existing data; SECRET_KEY encrypts new data.',
    isNoneWhenEmpty: true,
    level: 'common',
  }),
  QUEUE_SHARDS: setting(
    kinds.wholeNumber(1, 64),
    '1',
    'Number of wake-up queues, to spread the load over a Redis Cluster.',
  ),
  WORKER_CONCURRENCY: setting(
    kinds.wholeNumber(1, 10_000),
    '200',
    'Maximum concurrent answers per worker process, for each queue of QUEUE_SHARDS.',
    'common',
  ),
  QUEUE_SOFT_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '200',
    'When this many conversations of the deployment wait for a worker, answers get shorter and use no tools.',
  ),
  QUEUE_HARD_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '2000',
    'When this many conversations wait, those that have waited longest are asked to try again later.',
  ),
  QUEUE_SOFT_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '20',
    'When a message has waited for a worker for this many seconds, while others still wait, its answer gets shorter.',
  ),
  QUEUE_HARD_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '300',
    'When a message has waited for this many seconds, while others still wait, the person is asked to try again later.',
  ),
  TURN_MAX_CRASHES: setting(
    kinds.wholeNumber(1, 100),
    '5',
    'Minimum number of process crashes before a message is given up with an apology. The last three must be its own.',
  ),
  CONVERSATION_IDLE_SEC: setting(
    kinds.wholeNumber(0, 31_536_000),
    '28800',
    'Seconds without a question after which a conversation ends. The next question starts a new one, and the answer says so. 0 disables this.',
    'common',
  ),
  HISTORY_TTL_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '30',
    'Days for which an inactive conversation is remembered.',
    'common',
  ),
  FEEDBACK_TTL_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '90',
    'Days for which ratings of answers are kept, with the model and the policy rule of the answer (`npm run feedback`).',
  ),
  FEEDBACK_TEXT: setting(
    kinds.yesOrNo,
    'no',
    "Whether people's comments on answers are stored too, encrypted. With `no`, only the rating and its reasons are.",
  ),
};
