import { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisAddress } from '../../shared/redis/redis.ts';
import type { Config, Secrets } from '../config/config.ts';

/** Where Redis is: the embedded one in local mode, else what the settings name. */
export function redisAddress({ redis }: Config, { redisUrls, redisSentinelPassword }: Secrets): RedisAddress {
  const { sentinelName, sentinelUsername: username, sentinelTls: tls } = redis;
  return { urls: [...redisUrls], sentinelName, sentinelAccess: { username, password: redisSentinelPassword, tls } };
}

/** The newest key writes, all read. @throws RangeError without any key */
export function createKeyRing({ secretKey, previousSecretKeys }: Secrets): KeyRing {
  return new KeyRing([...(secretKey ? [secretKey] : []), ...previousSecretKeys]);
}
