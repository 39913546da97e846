import { createLog } from '../base/log.ts';
import { connectRedis } from '../base/redis.ts';
import { createPlatforms } from '../compose/bot.ts';
import type { CheckResult } from '../platforms/platform.ts';
import type { PlatformName } from '../domain/message.ts';
import { createKeyRing, redisAddress } from '../compose/secrets.ts';
import type { Config, Secrets } from '../settings/config.ts';

/** What a platform says of its credentials, on a connection to Redis of its own. @param isStart see `Platform.check` */
export async function checkPlatform(
  name: PlatformName,
  { config, secrets }: { config: Config; secrets: Secrets },
  isStart = false,
): Promise<CheckResult[]> {
  const log = createLog({ level: 'silent', format: 'json' });
  const redis = connectRedis(redisAddress(config, secrets), 'fail-fast', log, 'check');
  try {
    const platforms = createPlatforms({ config, secrets, nowMs: Date.now, log }, redis, createKeyRing(secrets));
    return (await platforms.get(name)?.check(isStart)) ?? [];
  } finally {
    redis.disconnect();
  }
}
