import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import type { Log } from '../log.ts';
import { SECOND_MS } from '../clock.ts';
import { corkWrites } from '../http/cork-writes.ts';
import { retryCommands, settleConnects } from './cluster-retry.ts';
import { retryRefusedWrites } from './retry-readonly.ts';

/** A connection to one Redis or to a Redis Cluster; both support the same commands. */
export type RedisClient = Redis | Cluster;

export interface RedisAddress {
  /**
   * redis:// or rediss://. Several addresses mean a cluster, or sentinels if `sentinelName` is set. `unix:` paths are
   * accepted too.
   */
  urls: string[];
  sentinelName?: string;
  /** Credentials and TLS for the sentinels if they differ from the master's. Absent fields are taken from the addresses. */
  sentinelAccess?: { username?: string; password?: string; tls?: 'same' | 'yes' | 'no' };
}

/**
 * Behavior while Redis is unavailable: `fail-fast` for callers with a deadline (webhooks, pages): commands are refused
 * immediately or after a second; `wait` for workers: commands are kept and sent after the reconnect (BullMQ needs
 * `maxRetriesPerRequest: null`), and scripts are retried while Redis refuses writes.
 */
export type RedisPatience = 'fail-fast' | 'wait';

/** Longer than any deadline of a fail-fast caller; those end the wait themselves (SECURITY.md acknowledged-when-stored). */
const COMMAND_TIMEOUT_MS = 5 * SECOND_MS;
/** A connection that cannot be made in this time is tried again. */
const CONNECT_TIMEOUT_MS = 1_200;
/** Maximum time that closing a connection takes while Redis is unavailable. The 2 s of ioredis would delay every stop. */
const DISCONNECT_LIMIT_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 2 * SECOND_MS;
/**
 * Maximum redirections of a fail-fast command. Most follow each other after 100 ms, so `COMMAND_TIMEOUT_MS` ends the command
 * first.
 */
const MAX_REDIRECTIONS = 16;
/** Pause between redirections, for two nodes that name each other as the owner of a slot. */
const MOVED_PAUSE_MS = 20;

/**
 * Opens a connection that reconnects forever; it never throws because Redis is unavailable. Errors are logged once per
 * state.
 */
export function connectRedis(address: RedisAddress, patience: RedisPatience, log: Log, name: string): RedisClient {
  const client = openClient(address, patience, name);
  corkWrites(client);
  if (client instanceof Cluster) retryCommands(settleConnects(client), patience === 'wait');
  if (patience === 'wait') retryRefusedWrites(client, log, name);
  else noteResponses(client);
  let isDown = false;
  client.on('error', (error: Error) => {
    if (!isDown) log.warn({ reason: error.message, connection: name }, 'redis is unavailable');
    isDown = true;
  });
  client.on('ready', () => {
    if (isDown) log.info({ connection: name }, 'redis is available again');
    isDown = false;
  });
  return client;
}

/** When the server last sent something, by `performance.now()`. */
const lastHeardMs = new WeakMap<RedisClient, number>();

function noteResponses(client: RedisClient): void {
  const listen = (node: Redis) =>
    node.on('connect', () => node.stream.on('data', () => lastHeardMs.set(client, performance.now())));
  if (client instanceof Cluster) client.on('+node', listen);
  else listen(client);
}

/** For how long a fail-fast connection has had no response to any command. Tells a Redis that hangs from one that is slow. */
export function silentForMs(client: RedisClient): number {
  return performance.now() - (lastHeardMs.get(client) ?? Number.NEGATIVE_INFINITY);
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
          connectTimeout: CONNECT_TIMEOUT_MS,
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
      // Moving a slot or replacing a dead node may take any time; a caller with a deadline has its own.
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

/** Addresses of the sentinels. */
export function sentinelHosts(urls: readonly string[]): { host: string; port: number }[] {
  return urls
    .map((url) => new URL(url))
    .map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26_379) }));
}

/** Credentials for a sentinel. A separate password is used with a separate user name, or none. */
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

/** People often write the password into only one address of a list. */
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
