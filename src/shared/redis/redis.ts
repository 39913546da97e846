import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import type { Log } from '../log.ts';
import { SECOND_MS } from '../clock.ts';
import { corkWrites } from '../http/cork-writes.ts';
import { repeatCommands, settleConnects } from './cluster-retry.ts';
import { waitOutRefusals } from './retry-readonly.ts';

/** A connection to one Redis or to a Redis Cluster; both speak the same commands. */
export type RedisClient = Redis | Cluster;

export interface RedisAddress {
  /** redis:// or rediss://; several mean a cluster, or sentinels when `sentinelName` is given. `unix:` paths are taken too. */
  urls: string[];
  sentinelName?: string;
  /** How the sentinels are signed in at, where that differs from the master: what is absent is as in the addresses. */
  sentinelAccess?: { username?: string; password?: string; tls?: 'same' | 'yes' | 'no' };
}

/**
 * How a connection behaves while Redis is away:
 * `fail-fast` for what a waiting caller depends on (webhooks, pages): commands are refused at once or after a second;
 * `wait` for workers: commands are kept and sent after the reconnect (BullMQ needs `maxRetriesPerRequest: null`), and
 * scripts are sent once more while Redis refuses writes.
 */
export type RedisPatience = 'fail-fast' | 'wait';

/** Below the receiver's own deadline of 1.5 s (SECURITY.md acknowledged-when-stored), so that a frozen Redis is noticed in time. */
const COMMAND_TIMEOUT_MS = 1_200;
/** A connection that is closed while Redis is away holds the process up this long; ioredis' own 2 s is felt at every stop. */
const DISCONNECT_LIMIT_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 2 * SECOND_MS;
/** Redirections of a fail-fast command; most come 100 ms after each other, so `COMMAND_TIMEOUT_MS` ends it first. */
const MAX_REDIRECTIONS = 16;
/** Two nodes that name each other as the owner of a slot are not asked without a pause. */
const MOVED_PAUSE_MS = 20;

/** Opens a connection that reconnects for ever; it never throws because Redis is away. Errors go to the log once per state. */
export function connectRedis(address: RedisAddress, patience: RedisPatience, log: Log, name: string): RedisClient {
  const client = openClient(address, patience, name);
  corkWrites(client);
  if (client instanceof Cluster) repeatCommands(settleConnects(client), patience === 'wait');
  if (patience === 'wait') waitOutRefusals(client, log, name);
  let isDown = false;
  client.on('error', (error: Error) => {
    if (!isDown) log.warn({ reason: error.message, connection: name }, 'redis is away');
    isDown = true;
  });
  client.on('ready', () => {
    if (isDown) log.info({ connection: name }, 'redis is back');
    isDown = false;
  });
  return client;
}

function openClient(address: RedisAddress, patience: RedisPatience, name: string): RedisClient {
  const { urls, sentinelName } = address;
  const options: RedisOptions = {
    connectionName: `parley-${name}`,
    disconnectTimeout: DISCONNECT_LIMIT_MS,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_PAUSE_MS),
    reconnectOnError: (error) => (/^(READONLY|LOADING)/.test(error.message) ? 2 : false),
    ...(patience === 'wait'
      ? { maxRetriesPerRequest: null }
      : {
          maxRetriesPerRequest: 1,
          enableOfflineQueue: false,
          commandTimeout: COMMAND_TIMEOUT_MS,
          connectTimeout: COMMAND_TIMEOUT_MS,
        }),
  };
  const first = new URL(urls[0] ?? 'redis://127.0.0.1:6379');
  if (first.protocol === 'unix:') return new Redis({ ...options, path: decodeURIComponent(first.pathname) });
  const access = accessOf(first);
  if (sentinelName !== undefined) {
    const [master, sentinel] = [accessOf(withPassword(urls) ?? first), sentinelAccessOf(address)];
    return new Redis({
      ...options,
      ...master,
      ...{ sentinels: sentinelHosts(urls), name: sentinelName, enableTLSForSentinelMode: master.tls !== undefined },
      ...{ sentinelUsername: sentinel.username, sentinelPassword: sentinel.password, sentinelTLS: sentinel.tls },
    });
  }
  if (urls.length > 1) {
    const clusterOptions: ClusterOptions = {
      redisOptions: { ...options, ...access },
      enableOfflineQueue: patience === 'wait',
      // A slot that moves, or a node that has died, takes as long as it takes; a caller with a deadline has its own.
      maxRedirections: patience === 'wait' ? Number.POSITIVE_INFINITY : MAX_REDIRECTIONS,
      retryDelayOnMoved: MOVED_PAUSE_MS,
      clusterRetryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), MAX_RECONNECT_PAUSE_MS),
    };
    return new Cluster(urls, clusterOptions);
  }
  return new Redis({
    ...options,
    ...access,
    host: first.hostname.replace(/^\[|\]$/g, ''),
    port: Number(first.port || 6_379),
    db: Number(first.pathname.slice(1) || 0),
  });
}

/** Where the sentinels are. */
export function sentinelHosts(urls: readonly string[]): { host: string; port: number }[] {
  return urls
    .map((url) => new URL(url))
    .map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) }));
}

/** How a sentinel is signed in at. A password of its own goes with a user of its own, or none. */
export function sentinelAccessOf({
  urls,
  sentinelAccess = {},
}: RedisAddress): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  const { username, password, tls = 'same' } = sentinelAccess;
  const master = accessOf(withPassword(urls) ?? new URL(urls[0] ?? ''));
  const isTls = tls === 'yes' || (tls === 'same' && master.tls !== undefined);
  return {
    username: username ?? (password === undefined ? master.username : undefined),
    password: password ?? master.password,
    tls: isTls ? {} : undefined,
  };
}

/** People often write the password into one address of a list only. */
function withPassword(urls: readonly string[]): URL | undefined {
  return urls.map((url) => new URL(url)).find(({ password }) => password !== '');
}

function accessOf(url: URL): RedisOptions {
  return {
    username: url.username ? decodeURIComponent(url.username) : undefined,
    password: url.password ? decodeURIComponent(url.password) : undefined,
    tls: url.protocol === 'rediss:' ? {} : undefined,
  };
}
