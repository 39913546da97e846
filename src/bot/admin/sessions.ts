import { HOUR_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { asAccountId, type AccountId } from '../domain/ids.ts';

/** After this time the administrator signs in again, usually without typing a password. */
export const SESSION_LIFE_MS = HOUR_MS;

const PURPOSE = 'admin-session';
const COMMAND_DEADLINE_MS = 1.5 * SECOND_MS;

const readSession = recordWith<{ account: string; expiresAtMs: string }>('account', 'expiresAtMs');
const keyOf = (hash: string) => `{admin}:session:${hash}`;

/**
 * Sessions of administrators (SECURITY.md admin-gate). Redis stores the hash of the token and the encrypted account.
 * @throws any error of the Redis connection
 */
export interface Sessions {
  /** @returns the token of the cookie */
  begin(account: AccountId): Promise<string>;
  /** The account of a session, if it is still listed in `ADMIN_IDS`. */
  accountOf(token: string): Promise<AccountId | undefined>;
  end(token: string): Promise<void>;
}

interface SessionParts {
  redis: RedisClient;
  keyRing: KeyRing;
  /** `ADMIN_IDS`. */
  adminIds: readonly string[];
  nowMs: NowMs;
}

export function createSessions({ redis, keyRing, adminIds, nowMs }: SessionParts): Sessions {
  return {
    async begin(account) {
      const token = randomToken();
      const hash = sha256Hex(token);
      const session = { account, expiresAtMs: String(nowMs() + SESSION_LIFE_MS) };
      const sealed = keyRing.seal(PURPOSE, hash, JSON.stringify(session));
      await withTimeout(redis.set(keyOf(hash), sealed, 'PX', SESSION_LIFE_MS), COMMAND_DEADLINE_MS);
      return token;
    },
    async accountOf(token) {
      const hash = sha256Hex(token);
      const sealed = await withTimeout(redis.get(keyOf(hash)), COMMAND_DEADLINE_MS);
      if (sealed === null) return undefined;
      const opened = tryOpenJson(() => keyRing.open(PURPOSE, hash, sealed), readSession);
      if (opened.kind !== 'opened' || !(Number(opened.value.expiresAtMs) > nowMs())) return undefined;
      const { account } = opened.value;
      return adminIds.includes(account) ? asAccountId(account) : undefined;
    },
    async end(token) {
      await withTimeout(redis.del(keyOf(sha256Hex(token))), COMMAND_DEADLINE_MS);
    },
  };
}
