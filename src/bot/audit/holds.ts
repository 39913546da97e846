import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { ALL_PARTITIONS } from '../domain/conversation.ts';
import type { AuditPerson } from '../domain/audit-entry.ts';
import { personOf } from './append-entry.ts';
import { holdsKey } from '../domain/partition-keys.ts';

const HOLDS_KEY = '{audit}:holds';
const PURPOSE = 'legal-hold';

/** A legal hold on an account: nothing of its people is erased or expires. */
export interface LegalHold {
  account: string;
  /** Chat accounts of the held account, as last found. */
  people: AuditPerson[];
  sinceMs: number;
}

/** All legal holds. They are few. */
export async function readHolds(redis: RedisClient, keyRing: KeyRing): Promise<LegalHold[]> {
  const stored = Object.entries(await redis.hgetall(HOLDS_KEY));
  return stored.flatMap(([field, sealed]) => {
    const read = (value: unknown) => {
      const hold = recordWith<LegalHold>('account')(value);
      return hold && Array.isArray(hold.people) ? hold : undefined;
    };
    const opened = tryOpenJson(() => keyRing.open(PURPOSE, field, sealed), read);
    return opened.kind === 'opened' ? [opened.value] : [];
  });
}

/** Stores a hold and marks its people in all partitions, so that the commits of their turns keep everything. Repeatable. */
export async function storeHold(redis: RedisClient, keyRing: KeyRing, hold: LegalHold): Promise<void> {
  const field = await fieldOf(redis, keyRing, hold.account);
  await redis.hset(HOLDS_KEY, field, keyRing.seal(PURPOSE, field, JSON.stringify(hold)));
  const people = hold.people.map(personOf);
  if (people.length > 0) await Promise.all(ALL_PARTITIONS.map((one) => redis.sadd(holdsKey(one), ...people)));
}

/** @returns the hold that was released; undefined if there was none */
export async function removeHold(
  redis: RedisClient,
  keyRing: KeyRing,
  account: string,
): Promise<LegalHold | undefined> {
  const released = await unmarkHold(redis, keyRing, account);
  if (released) await redis.hdel(HOLDS_KEY, await fieldOf(redis, keyRing, account));
  return released;
}

/**
 * From now on commits keep nothing more for this hold. The hold itself stays, so that a release that is killed can be
 * repeated.
 */
export async function unmarkHold(
  redis: RedisClient,
  keyRing: KeyRing,
  account: string,
): Promise<LegalHold | undefined> {
  const holds = await readHolds(redis, keyRing);
  const released = holds.find((hold) => hold.account === account);
  if (!released) return undefined;
  // People who are held for another account too stay marked.
  const others = new Set(holds.filter((hold) => hold !== released).flatMap(({ people }) => people.map(personOf)));
  const free = released.people.map(personOf).filter((one) => !others.has(one));
  if (free.length > 0) await Promise.all(ALL_PARTITIONS.map((one) => redis.srem(holdsKey(one), ...free)));
  return released;
}

/** The field of an account, also if an older key named it. */
async function fieldOf(redis: RedisClient, keyRing: KeyRing, account: string): Promise<string> {
  for (const [field, sealed] of Object.entries(await redis.hgetall(HOLDS_KEY))) {
    const opened = tryOpenJson(() => keyRing.open(PURPOSE, field, sealed), recordWith<LegalHold>('account'));
    if (opened.kind === 'opened' && opened.value.account === account) return field;
  }
  return keyRing.pseudonym(PURPOSE, account);
}
