import { createLog } from '../../shared/log.ts';
import { connectRedis } from '../../shared/redis/redis.ts';
import { createPlatforms } from '../../bot/app/base.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { PlatformName } from '../../bot/domain/platform-name.ts';
import { createKeyRing, redisAddress } from '../../bot/app/secrets.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';

/**
 * Checks a platform's credentials, with a separate Redis connection.
 * @param isStart see `Platform.check`
 */
export async function checkPlatform(
  name: PlatformName,
  { config, secrets }: { config: Config; secrets: Secrets },
  isStart = false,
): Promise<CheckResult[]> {
  const log = createLog({ level: 'silent', format: 'json' });
  const redis = connectRedis(redisAddress(config, secrets), 'fail-fast', log, 'check');
  try {
    const platforms = createPlatforms(
      { config, secrets, nowMs: Date.now, modelNames: () => config.chat.models, log },
      redis,
      createKeyRing(secrets),
    );
    return (await platforms.get(name)?.check(isStart)) ?? [];
  } finally {
    redis.disconnect();
  }
}
