import { once } from 'node:events';
import { DAY_MS, SECOND_MS } from '../shared/clock.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { createLog } from '../shared/log.ts';
import { connectRedis, type RedisClient } from '../shared/redis/redis.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { createKeyRing, redisAddress } from '../bot/app/secrets.ts';
import { CSV_HEAD, csvLine } from '../bot/reply/feedback/feedback-csv.ts';
import { readFeedback } from '../bot/reply/feedback/read-feedback.ts';
import { secretsOfEarlierStart, socketOfEarlierStart } from '../bot/app/local/local-mode.ts';
import type { Config, Secrets } from '../bot/config/config.ts';

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;

interface FeedbackCommand {
  config: Config;
  secrets: Secrets;
  days?: number;
  /** One JSON object per line instead of CSV. */
  isJson?: boolean;
  output: NodeJS.WritableStream;
  /** Output for messages, because `output` is the table. */
  asides: { write(text: string): unknown };
}

/**
 * `npm run feedback`: prints the ratings as a table, one per line.
 * @returns the exit code
 */
export async function runFeedbackCommand(command: FeedbackCommand): Promise<number> {
  const { config, days, isJson = false, output, asides } = command;
  const secrets = secretsOfEarlierStart(config, command.secrets);
  const socket = config.embedded.redis ? socketOfEarlierStart(config) : undefined;
  if (config.embedded.redis && socket === undefined) {
    asides.write('Ratings are stored in the Redis of npm start, which is not running: run npm start first\n');
    return EXIT.failed;
  }
  const address = socket === undefined ? redisAddress(config, secrets) : { urls: [socket] };
  const keyRing = createKeyRing(secrets);
  const redis = connectRedis(address, 'fail-fast', createLog({ level: 'silent', format: 'json' }), 'feedback');
  try {
    await writeTable(redis, { keyRing, sinceMs: days === undefined ? 0 : Date.now() - days * DAY_MS, isJson, output });
    return EXIT.ok;
  } catch {
    asides.write('Redis does not answer: run npm run check to see the cause\n');
    return EXIT.failed;
  } finally {
    redis.disconnect();
  }
}

async function writeTable(
  redis: RedisClient,
  {
    keyRing,
    sinceMs,
    isJson,
    output,
  }: { keyRing: KeyRing; sinceMs: number; isJson: boolean; output: NodeJS.WritableStream },
): Promise<void> {
  const write = async (text: string) => {
    if (!output.write(text)) await once(output, 'drain');
  };
  await withTimeout(once(redis, 'ready'), CONNECT_TIMEOUT_MS);
  if (!isJson) await write(CSV_HEAD);
  for await (const kept of readFeedback({ redis, keyRing }, sinceMs))
    await write(isJson ? `${JSON.stringify(kept)}\n` : csvLine(kept));
}
