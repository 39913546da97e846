import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { definedOnly } from '../../../shared/defined-only.ts';
import type { Log } from '../../../shared/log.ts';
import type { Config, Secrets } from '../../config/config.ts';
import { openDataDir } from './data-dir.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from './embedded-redis.ts';
import { startSupervisedRedis } from './embedded-redis-state.ts';
import { findLocalKeys, loadOrCreateLocalKeys, type LocalKeys } from './local-keys.ts';
import { needsLocalParts } from './needs-local-parts.ts';
import { stopStaleRedis } from './stop-stale-redis.ts';

/** Secrets of a process with embedded parts, with everything that these parts need. */
export type LocalSecrets = Secrets & Omit<LocalKeys, 'secretKey' | 'serviceApiKey'> & { readonly secretKey: Buffer };

/** One entry of `SERVICE_CLIENTS_FILE`. */
export interface ServiceClient {
  client_id: string;
  client_secret: string;
  name: string;
  /** Compared exactly. */
  redirect_uris: string[];
}

export interface LocalMode {
  /** The given secrets, completed. */
  readonly secrets: LocalSecrets;
  /** The embedded service's clients if no file is set: the bot. */
  readonly clients: ServiceClient[];
  /** The key that this start generated for the chat interface, to print once. Undefined if `SERVICE_API_KEYS` is set. */
  readonly madeApiKey: string | undefined;
  /** Undefined if `REDIS_URL` is set. */
  readonly redis: EmbeddedRedis | undefined;
  /** Stops the embedded Redis. Call it after everything that writes to Redis has stopped. */
  stop(): Promise<void>;
}

/**
 * Prepares the embedded parts, in local mode and for the service alone: the keys, stored under `DATA_DIR`, and the embedded
 * Redis with its file there, which is restarted if it ends. Data survive a restart, and a Redis left behind by a crash is
 * stopped first.
 * @throws LocalError @throws EmbeddedRedisError
 */
export async function prepareLocalMode(
  config: Config,
  secrets: Secrets,
  { log, onGone }: { log: Log; onGone(sentence: string): void },
): Promise<LocalMode> {
  const dataDir = openDataDir(config.local.dataDir);
  const lock = await lockDataDir(dataDir);
  try {
    const hadKeys = findLocalKeys(dataDir) !== undefined;
    const completed = completeSecrets(config, secrets, loadOrCreateLocalKeys(dataDir));
    const redis = config.embedded.redis ? await startRedis(dataDir, log, onGone) : undefined;
    return {
      secrets: redis ? { ...completed, redisUrls: [redis.url] } : completed,
      clients: [clientOfBot(config, completed)],
      madeApiKey: secrets.serviceApiKeys.length > 0 || hadKeys ? undefined : completed.serviceApiKeys[0],
      redis,
      async stop() {
        await redis?.stop();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The given secrets, completed by the keys that an earlier start stored. Generates none. */
export function secretsOfEarlierStart(config: Config, given: Secrets): Secrets {
  if (!needsLocalParts(config, given)) return given;
  try {
    const kept = findLocalKeys(config.local.dataDir);
    return kept ? completeSecrets(config, given, kept) : given;
  } catch {
    // The start reports what is wrong with the keys.
    return given;
  }
}

/**
 * Address of the Redis that a start with this data directory runs. Undefined if none runs, or if it listens on a port only.
 */
export function socketOfEarlierStart({ local: { dataDir } }: Config): string | undefined {
  const socket = socketPathIn(join(dataDir, 'redis'));
  return existsSync(socket) ? `unix:${socket}` : undefined;
}

function socketPathIn(redisDir: string): string {
  return join(redisDir, 'redis.sock');
}

function completeSecrets(config: Config, given: Secrets, made: LocalKeys): LocalSecrets {
  const { secretKey, serviceApiKey, ...keys } = made;
  const serviceApiKeys = given.serviceApiKeys.length > 0 ? given.serviceApiKeys : [serviceApiKey];
  return {
    ...keys,
    ...definedOnly<unknown>({ ...given }),
    secretKey: given.secretKey ?? Buffer.from(secretKey, 'base64'),
    serviceApiKeys,
    // The embedded chat service accepts only its own keys, whatever key is set for another service.
    chatApiKey: config.embedded.chat ? serviceApiKeys[0] : given.chatApiKey,
  } as LocalSecrets;
}

function clientOfBot(config: Config, secrets: LocalSecrets): ServiceClient {
  return {
    client_id: config.signIn.clientId,
    client_secret: secrets.signInClientSecret,
    name: config.local.botName,
    redirect_uris: [`${config.http.publicUrl}/oauth/callback`],
  };
}

async function startRedis(dataDir: string, log: Log, onGone: (sentence: string) => void): Promise<EmbeddedRedis> {
  const redisDir = join(dataDir, 'redis');
  const pidFile = join(redisDir, 'redis.pid');
  mkdirSync(redisDir, { recursive: true });
  chmodSync(redisDir, 0o700);
  if (await stopStaleRedis(redisDir, pidFile)) log.info('ended a redis-server left by a crashed run');
  const listening = { socketPath: socketPathIn(redisDir), extraArguments: ['--pidfile', pidFile] };
  return startSupervisedRedis({
    start: (port) => startEmbeddedRedis({ dataDir: redisDir, ...listening, port }),
    log,
    onGone,
  });
}
