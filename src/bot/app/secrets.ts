import { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisAddress } from '../../shared/redis/redis.ts';
import type { Config, Secrets } from '../config/config.ts';

/** Address of Redis: the embedded one in local mode, otherwise the one from the settings. */
export function redisAddress({ redis }: Config, { redisUrls, redisSentinelPassword }: Secrets): RedisAddress {
  const { sentinelName, sentinelUsername: username, sentinelTls: tls } = redis;
  return { urls: [...redisUrls], sentinelName, sentinelAccess: { username, password: redisSentinelPassword, tls } };
}

/** The newest key encrypts, and all keys decrypt. @throws RangeError without a key */
export function createKeyRing({ secretKey, previousSecretKeys }: Secrets): KeyRing {
  return new KeyRing([...(secretKey ? [secretKey] : []), ...previousSecretKeys]);
}
