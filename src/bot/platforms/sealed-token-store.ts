import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { NowMs } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';

/** A platform's access token, shared between calls and processes. */
interface StoredToken {
  token: string;
  expiresAtMs: number;
}

const PURPOSE = 'platform-token';

/** Stores platforms' access tokens sealed in Redis, so that all processes share one (SECURITY.md secrets-stay-inside). */
export function createSealedTokenStore(redis: RedisClient, keyRing: KeyRing, nowMs: NowMs) {
  const keyOf = (name: string) => `platform-token:${name}`;
  return {
    async read(name: string): Promise<StoredToken | undefined> {
      const sealed = await redis.get(keyOf(name));
      if (sealed === null) return undefined;
      const opened = tryOpenJson(() => keyRing.open(PURPOSE, name, sealed), readToken);
      // If the stored token is damaged or its key is missing, a new token is requested.
      return opened.kind === 'opened' ? opened.value : undefined;
    },
    async write(name: string, stored: StoredToken): Promise<void> {
      const lifeMs = Math.max(1, Math.round(stored.expiresAtMs - nowMs()));
      await redis.set(keyOf(name), keyRing.seal(PURPOSE, name, JSON.stringify(stored)), 'PX', lifeMs);
    },
  };
}

function readToken(value: unknown): StoredToken | undefined {
  const stored = recordWith<StoredToken>('token')(value);
  return typeof stored?.expiresAtMs === 'number' ? stored : undefined;
}
