import { once } from 'node:events';
import { SECOND_MS } from '../shared/clock.ts';
import { asError } from '../shared/coded-error.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { createLog } from '../shared/log.ts';
import { connectRedis, type RedisClient } from '../shared/redis/redis.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { secretsOfEarlierStart, socketOfEarlierStart } from '../bot/app/local/local-mode.ts';
import { createKeyRing, redisAddress } from '../bot/app/secrets.ts';
import type { Config, Secrets } from '../bot/config/config.ts';

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
/** Message of the Redis client about a command without a response. */
const NO_RESPONSE = /^Command timed out$/;

interface StoredDataOptions {
  config: Config;
  secrets: Secrets;
  /** Name of the Redis connection. */
  name: string;
  /** Output for messages. */
  asides: { write(text: string): unknown };
  /** Message for local mode while its Redis is not running. */
  notRunning: string;
}

/**
 * Runs a command on the data that Parley stores: in the Redis of the settings, or in that of `npm start`.
 * @param run gets the secrets of the deployment, in local mode those that `npm start` made
 * @returns the exit code
 */
export async function withStoredData(
  { config, secrets: given, name, asides, notRunning }: StoredDataOptions,
  run: (redis: RedisClient, keyRing: KeyRing, secrets: Secrets) => Promise<number>,
): Promise<number> {
  const secrets = secretsOfEarlierStart(config, given);
  const socket = config.embedded.redis ? socketOfEarlierStart(config) : undefined;
  if (config.embedded.redis && socket === undefined) {
    asides.write(`${notRunning}\n`);
    return EXIT.failed;
  }
  const address = socket === undefined ? redisAddress(config, secrets) : { urls: [socket] };
  const keyRing = createKeyRing(secrets);
  const redis = connectRedis(address, 'fail-fast', createLog({ level: 'silent', format: 'json' }), name);
  try {
    await withTimeout(once(redis, 'ready'), CONNECT_TIMEOUT_MS);
    return await run(redis, keyRing, secrets);
  } catch (error) {
    const { path, code, message } = asError(error) as NodeJS.ErrnoException;
    const isSilent = redis.status !== 'ready' || NO_RESPONSE.test(message);
    if (isSilent) asides.write('Redis does not answer: run npm run check to see the cause\n');
    else asides.write(path === undefined ? `${message}\n` : `Cannot read ${path}: ${code ?? ''}\n`);
    return EXIT.failed;
  } finally {
    redis.disconnect();
  }
}
