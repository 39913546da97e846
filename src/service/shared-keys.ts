import { SECOND_MS, type NowMs } from '../shared/clock.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { randomToken } from '../shared/crypto/ids.ts';
import { inBackground } from '../shared/in-background.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import { withTimeout } from '../shared/with-timeout.ts';

/** Sorted set of the running processes, by the time at which their entries expire: `<instance>:<key id>,<key id>,…`. */
const PROCESSES_KEY = '{service}:keys';
/** Maximum time for which a dead process counts as running. */
const ENTRY_TTL_MS = 30 * SECOND_MS;
const RENEWAL_MS = 5 * SECOND_MS;
const REDIS_TIMEOUT_MS = 0.5 * SECOND_MS;
const ID_BYTES = 12;

export interface SharedKeysOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Called after each comparison with the number of processes with other keys, and the sentence if there are any. */
  tell(processes: number, sentence: string | undefined): void;
}

/**
 * Finds service processes on the same Redis with other keys. They would silently share neither sign-ins nor limits. Each
 * process announces the ids of its keys, which also name the key of every sealed value and do not reveal it.
 */
export class SharedKeys {
  readonly #options: SharedKeysOptions;
  readonly #entry: string;
  readonly #timer: NodeJS.Timeout;
  #sentence: string | undefined;

  constructor(options: SharedKeysOptions) {
    this.#options = options;
    this.#entry = `${randomToken(ID_BYTES)}:${options.keyRing.keyIds.join(',')}`;
    this.#timer = setInterval(() => inBackground(() => this.compare()), RENEWAL_MS).unref();
  }

  /** What the operator has to do. Undefined while all running processes have keys in common, as far as is known. */
  get sentence(): string | undefined {
    return this.#sentence;
  }

  /** Announces the own keys and compares them; runs on a timer. Without Redis the last result stays. */
  async compare(): Promise<void> {
    const { redis, keyRing, nowMs, tell } = this.#options;
    const now = nowMs();
    const announced = redis
      .multi()
      .zadd(PROCESSES_KEY, now + ENTRY_TTL_MS, this.#entry)
      .pexpire(PROCESSES_KEY, ENTRY_TTL_MS)
      .zremrangebyscore(PROCESSES_KEY, '-inf', now)
      .exec();
    const found = await withTimeout(
      announced.then(() => findForeignKeys(redis, keyRing, now)),
      REDIS_TIMEOUT_MS,
    ).catch(() => undefined);
    if (!found) return;
    this.#sentence = found.sentence;
    tell(found.processes, found.sentence);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await withTimeout(this.#options.redis.zrem(PROCESSES_KEY, this.#entry), REDIS_TIMEOUT_MS).catch(() => undefined);
  }
}

/**
 * Running service processes whose keys do not match these. Two processes match if one of them can read what the other one
 * writes, which holds at each step of a rotation by `SECRET_KEY_PREVIOUS`.
 */
export async function findForeignKeys(
  redis: RedisClient,
  { currentKeyId, keyIds }: Pick<KeyRing, 'currentKeyId' | 'keyIds'>,
  nowMs: number,
): Promise<{ processes: number; sentence: string | undefined }> {
  const entries = await redis.zrangebyscore(PROCESSES_KEY, `(${nowMs}`, '+inf');
  const foreign = entries
    .map((entry) => entry.slice(entry.indexOf(':') + 1).split(','))
    .filter(([newest = '', ...older]) => !keyIds.includes(newest) && !older.includes(currentKeyId));
  if (foreign.length === 0) return { processes: 0, sentence: undefined };
  const ids = [...new Set(foreign.map(([newest]) => newest))].slice(0, 5).join(', ');
  const sentence =
    `service processes on this Redis use other keys (${ids}, this one ${currentKeyId}), so that they share neither ` +
    'sign-ins nor limits: set the same SECRET_KEY everywhere, or one Redis for each deployment';
  return { processes: foreign.length, sentence };
}
