import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../shared/log.ts';
import type { Config, Secrets } from '../../config/config.ts';
import { openDataDir } from './data-dir.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from './embedded-redis.ts';
import { startKeptRedis } from './embedded-redis-state.ts';
import { findLocalKeys, keepLocalKeys, type LocalKeys } from './local-keys.ts';
import { needsLocalParts } from './needs-local-parts.ts';
import { stopStaleRedis } from './stop-stale-redis.ts';

/** The secrets of a process that runs what Parley brings itself: nothing that its parts need is missing. */
export interface LocalSecrets extends Secrets {
  readonly secretKey: Buffer;
  readonly signInClientSecret: string;
  readonly wecomBotToken: string;
  readonly wecomBotAesKey: string;
  readonly wecomAgentSecret: string;
  readonly wecomBotSecret: string;
  readonly slackSigningSecret: string;
  readonly slackBotToken: string;
  readonly slackClientSecret: string;
  readonly slackAppToken: string;
}

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
  /** The embedded service's clients when no file names them: the bot. */
  readonly clients: ServiceClient[];
  /** The key that this start made for the chat interface, to be printed once; undefined when `SERVICE_API_KEYS` is set. */
  readonly madeApiKey: string | undefined;
  /** Undefined when `REDIS_URL` is set. */
  readonly redis: EmbeddedRedis | undefined;
  /** Stops the embedded Redis; call it after everything that writes to it. */
  stop(): Promise<void>;
}

/**
 * Gets ready what Parley brings itself, in local mode and for the service alone: the keys, kept under `DATA_DIR`, and the
 * embedded Redis with its file there, which is started again if it ends. Data survive a restart, and a Redis that a crashed run left behind is ended first.
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
    const completed = completeSecrets(config, secrets, keepLocalKeys(dataDir));
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

/** The given secrets, completed by the keys that an earlier start kept; makes none. */
export function secretsOfEarlierStart(config: Config, given: Secrets): Secrets {
  if (!needsLocalParts(config, given)) return given;
  try {
    const kept = findLocalKeys(config.local.dataDir);
    return kept ? completeSecrets(config, given, kept) : given;
  } catch {
    // A start says what is wrong with them.
    return given;
  }
}

/** The address of the Redis that a start in this folder has brought; undefined where none runs, or listens on a port alone. */
export function socketOfEarlierStart({ local: { dataDir } }: Config): string | undefined {
  const socket = socketPathIn(join(dataDir, 'redis'));
  return existsSync(socket) ? `unix:${socket}` : undefined;
}

function socketPathIn(redisDir: string): string {
  return join(redisDir, 'redis.sock');
}

function completeSecrets(config: Config, given: Secrets, made: LocalKeys): LocalSecrets {
  const serviceApiKeys = given.serviceApiKeys.length > 0 ? given.serviceApiKeys : [made.serviceApiKey];
  return {
    ...given,
    secretKey: given.secretKey ?? Buffer.from(made.secretKey, 'base64'),
    serviceApiKeys,
    // The embedded chat service knows its own keys only, whatever key was set for another.
    chatApiKey: config.embedded.chat ? serviceApiKeys[0] : given.chatApiKey,
    signInClientSecret: given.signInClientSecret ?? made.signInClientSecret,
    wecomBotToken: given.wecomBotToken ?? made.wecomBotToken,
    wecomBotAesKey: given.wecomBotAesKey ?? made.wecomBotAesKey,
    wecomAgentSecret: given.wecomAgentSecret ?? made.wecomAgentSecret,
    wecomBotSecret: given.wecomBotSecret ?? made.wecomBotSecret,
    slackSigningSecret: given.slackSigningSecret ?? made.slackSigningSecret,
    slackBotToken: given.slackBotToken ?? made.slackBotToken,
    slackClientSecret: given.slackClientSecret ?? made.slackClientSecret,
    slackAppToken: given.slackAppToken ?? made.slackAppToken,
  };
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
  if (await stopStaleRedis(redisDir, pidFile)) log.info('ended the redis-server that a crashed run left behind');
  const listening = { socketPath: socketPathIn(redisDir), extraArguments: ['--pidfile', pidFile] };
  return startKeptRedis({
    start: (port) => startEmbeddedRedis({ dataDir: redisDir, ...listening, port }),
    log,
    onGone,
  });
}
