import { DAY_MS, SECOND_MS } from '../../../shared/clock.ts';
import { ACCOUNT_ID } from '../../domain/ids.ts';
import { optional, secret, setting } from '../setting.ts';
import * as kinds from '../setting-kinds.ts';

/** Seconds for which repeated deliveries are recognised; older deliveries must not be accepted (SECURITY.md time-window). */
const REMEMBERED_SEC = DAY_MS / SECOND_MS;
const port = kinds.wholeNumber(1, 65_535);

/** The process: addresses, roles, shutdown and logging. */
export const processSettings = {
  PORT: setting(port, '8080', 'HTTP port of the bot.', 'common'),
  METRICS_PORT: optional(port, {
    meaning: 'Port for `/healthz`, `/readyz`, `/version` and `/metrics` of the bot, instead of PORT.',
    default: 'PORT',
    example: '9090',
  }),
  ADMIN_IDS: optional(kinds.listOf(kinds.textLike(ACCOUNT_ID, 'must be an account id'), 'account ids'), {
    meaning: 'Account ids (staff or student numbers) that may open PUBLIC_URL/admin, comma-separated.',
    default: 'none; there is no page',
    example: '20080117,20110042',
    level: 'common',
  }),
  ADMIN_PORT: optional(port, {
    meaning: 'Port for `/admin`, instead of PORT, with the host name of PUBLIC_URL.',
    default: 'PORT',
    example: '9091',
  }),
  HOST: optional(kinds.textLike(/^[\w.:-]+$/, 'must be a host name or an IP address'), {
    meaning: 'Address to listen on.',
    default: '127.0.0.1 in local mode, else 0.0.0.0',
    example: '0.0.0.0',
    level: 'common',
  }),
  PUBLIC_URL: optional(kinds.publicOrigin, {
    meaning: 'Address of the bot for browsers and platforms, without a path; https except on this machine.',
    default: 'http://127.0.0.1:PORT',
    example: 'https://parley.example.org',
    level: 'first',
  }),
  ROLES: optional(kinds.listOfWords('receiver', 'worker', 'service', 'messenger'), {
    meaning: 'Roles of this process, comma-separated: `receiver`, `worker`, `service`. Turns local mode off.',
    default: 'receiver,worker; local mode adds service,messenger',
    example: 'receiver,worker',
    level: 'common',
  }),
  TRUSTED_PROXY_HOPS: setting(
    kinds.wholeNumber(0, 10),
    '0',
    'Number of proxies in front of Parley, whose X-Forwarded-For entries it trusts.',
    'common',
  ),
  HTTPS_PROXY: secret(kinds.proxyAddress, {
    meaning: 'Proxy (CONNECT) for https requests to other machines. Also read as `https_proxy`.',
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
    meaning: 'Domains, addresses or networks reached without the proxy. Also read as `no_proxy`.',
    default: 'this machine only',
    example: '.example.org,10.0.0.0/8',
    level: 'common',
  }),
  WEBHOOK_WINDOW_SEC: setting(
    kinds.wholeNumber(1, REMEMBERED_SEC),
    '300',
    "Maximum seconds between a delivery's timestamp and the local clock.",
  ),
  SHUTDOWN_GRACE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '30',
    "Seconds from SIGTERM to the exit, less than the container's stop timeout; running answers get 5 fewer.",
    'common',
  ),
  LOG_LEVEL: setting(
    kinds.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Minimum level: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    'common',
  ),
  LOG_FORMAT: optional(kinds.oneOf('pretty', 'json'), {
    meaning: '`pretty` for people, `json` for log collectors.',
    default: 'pretty on a terminal, else json',
    example: 'json',
    level: 'common',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(kinds.insideAddress, {
    meaning:
      'OpenTelemetry collector for traces, over OTLP/HTTP (`http/protobuf`). Other `OTEL_*` variables apply in the process environment.',
    default: 'none; nothing is traced',
    example: 'http://otel-collector:4318',
    level: 'common',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: secret(kinds.text, {
    meaning: 'Headers for the collector, as `name=value`, comma-separated.',
    default: 'none',
  }),
  OTEL_SERVICE_NAME: optional(kinds.text, {
    meaning: 'Name of Parley in traces.',
    default: 'parley',
    example: 'parley-test',
  }),
  OTEL_TRACES_SAMPLER: optional(
    kinds.oneOf(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    {
      meaning: 'Sampler; `parentbased_traceidratio` traces the share in OTEL_TRACES_SAMPLER_ARG.',
      default: 'parentbased_always_on',
      example: 'parentbased_traceidratio',
    },
  ),
  OTEL_TRACES_SAMPLER_ARG: optional(kinds.share, {
    meaning: 'Share of traced messages, from 0 to 1.',
    default: '1',
    example: '0.1',
  }),
};

/** Settings of local mode, and the data directory. */
export const localSettings = {
  DATA_DIR: setting(
    kinds.text,
    './data',
    "Directory for a worker's document index, and in local mode for Redis and generated keys.",
    'common',
  ),
  SERVICE_PORT: setting(port, '8081', 'Port of the reference service. Same as PORT with `ROLES=service` alone.'),
  MESSENGER_PORT: setting(port, '8082', "Port of the messenger's page."),
  LOCAL_ENGINE_PORTS: setting(
    kinds.listOf(port, 'port numbers'),
    '11434,1234,8080,8000',
    "Local ports on which the messenger's page looks for engines.",
  ),
  MESSENGER_PROTOCOL: setting(
    kinds.oneOf('wecom', 'slack'),
    'wecom',
    'Platform that local mode simulates: `wecom` or `slack`.',
    'common',
  ),
};

/** Redis, the queue and retention. */
export const storeSettings = {
  REDIS_URL: secret(kinds.listOf(kinds.redisAddress, 'redis:// or rediss:// addresses'), {
    meaning:
      'redis:// or rediss:// address; several, comma-separated, for Redis Cluster, or for sentinels with REDIS_SENTINEL_NAME.',
    default: 'embedded in local mode; required otherwise',
    example: 'redis://127.0.0.1:6379',
    level: 'first',
  }),
  REDIS_SENTINEL_NAME: optional(kinds.text, {
    meaning: 'Name of the monitored master.',
    example: 'mymaster',
  }),
  REDIS_SENTINEL_USERNAME: optional(kinds.text, {
    meaning: 'Sentinel user, if it differs from REDIS_URL; `default` for sentinels without one.',
    example: 'default',
  }),
  REDIS_SENTINEL_PASSWORD: secret(kinds.text, {
    meaning: 'Sentinel password, if it differs from REDIS_URL.',
  }),
  REDIS_SENTINEL_TLS: setting(
    kinds.oneOf('same', 'yes', 'no'),
    'same',
    'TLS to the sentinels: `yes`, `no`, or `same` as the master (rediss://).',
  ),
  REDIS_ALLOW_DATA_LOSS: setting(
    kinds.yesOrNo,
    'no',
    '`yes` accepts a Redis that can lose messages: without append-only file, or with eviction.',
  ),
  SECRET_KEY: secret(kinds.secretKey, {
    meaning: 'Key that encrypts stored data: 32 bytes in base64 (`openssl rand -base64 32`).',
    default: 'generated and stored in DATA_DIR in local mode; required otherwise',
    level: 'first',
  }),
  SECRET_KEY_PREVIOUS: secret(kinds.listOf(kinds.secretKey, 'keys of 32 bytes in base64'), {
    meaning: 'Former keys, comma-separated. They only decrypt.',
    isNoneWhenEmpty: true,
    level: 'common',
  }),
  QUEUE_SHARDS: setting(
    kinds.wholeNumber(1, 64),
    '1',
    'Number of wake-up queues, to spread load over a Redis Cluster.',
  ),
  WORKER_CONCURRENCY: setting(
    kinds.wholeNumber(1, 10_000),
    '200',
    'Maximum concurrent answers per worker process and queue of QUEUE_SHARDS.',
    'common',
  ),
  QUEUE_SOFT_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '200',
    'Waiting conversations above which answers get shorter and use no tools.',
  ),
  QUEUE_HARD_WAITING: setting(
    kinds.wholeNumber(1, 1_000_000),
    '2000',
    'Waiting conversations above which the longest-waiting people are asked to try again later.',
  ),
  QUEUE_SOFT_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '20',
    'Seconds of waiting after which, while others wait too, an answer gets shorter.',
  ),
  QUEUE_HARD_AGE_SEC: setting(
    kinds.wholeNumber(1, 600),
    '300',
    'Seconds of waiting after which, while others wait too, the person is asked to try again later.',
  ),
  TURN_MAX_CRASHES: setting(
    kinds.wholeNumber(1, 100),
    '5',
    'Minimum number of process crashes before the bot gives up on a message and apologizes.',
  ),
  LIMIT_PERSON_PER_MINUTE: setting(
    kinds.wholeNumber(1, 10_000),
    '20',
    'Maximum messages per person and minute, across all chats.',
    'common',
  ),
  LIMIT_CHAT_PER_MINUTE: setting(
    kinds.wholeNumber(1, 10_000),
    '60',
    'Maximum messages per chat and minute, of all people together.',
    'common',
  ),
  LIMIT_SIGN_IN_FAILURES_PER_MINUTE: setting(
    kinds.wholeNumber(10, 1_000_000),
    '600',
    'Maximum failed requests to the sign-in pages per address and minute.',
  ),
  QUESTION_MAX_AGE_SEC: setting(
    kinds.wholeNumber(60, 86_400),
    '600',
    'Seconds after which a question that still waits gets an apology.',
    'common',
  ),
  CANARY_SEC: setting(
    kinds.wholeNumber(0, 3_600),
    '0',
    'Seconds between synthetic questions that test the queue for `/readyz`, such as 60; 0 disables them.',
  ),
  CONVERSATION_IDLE_SEC: setting(
    kinds.wholeNumber(0, 31_536_000),
    '28800',
    'Idle seconds after which a conversation ends; 0 disables this.',
    'common',
  ),
  HISTORY_TTL_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '30',
    'Days for which an inactive conversation is stored.',
    'common',
  ),
  FEEDBACK_TTL_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '90',
    'Days for which ratings are stored (`npm run feedback`).',
  ),
  AUDIT: setting(
    kinds.yesOrNo,
    'no',
    '`yes` records sign-ins, questions (without text), refusals and tool runs, in addition to actions of administrators.',
    'common',
  ),
  AUDIT_DIR: optional(kinds.text, {
    meaning: 'Folder for the audit record, the same for all workers. `npm run admin -- audit verify` checks its files.',
    default: 'none; the newest entries stay in Redis',
    example: '/var/lib/parley/audit',
    level: 'common',
  }),
  AUDIT_QUESTION_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '180',
    'Days for which questions, refusals and tool runs are recorded.',
  ),
  AUDIT_SIGN_IN_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '365',
    'Days for which sign-ins, links and revocations are recorded.',
  ),
  AUDIT_ADMIN_DAYS: setting(
    kinds.wholeNumber(1, 3_650),
    '1095',
    'Days for which actions of administrators and proofs of erasure are recorded.',
  ),
  AI_MARK: setting(
    kinds.wordsOrNot,
    'yes',
    'Mark of answers and answer files as AI-generated: `yes`, `no` or other words.',
    'common',
  ),
  FEEDBACK_TEXT: setting(kinds.yesOrNo, 'no', 'Whether comments on answers are stored, encrypted.'),
  UNANSWERED_TEXT: setting(
    kinds.yesOrNo,
    'no',
    'Whether administrators may read unanswered questions, instead of single words.',
  ),
};
