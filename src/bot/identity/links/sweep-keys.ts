import { DAY_MS, MINUTE_MS } from '../../../shared/clock.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import type { Links } from './links.ts';
import { keyIdsOf } from './rewrap-link.ts';
import { keys, type IdentityStore } from '../store.ts';
import { asPersonId } from '../../domain/ids.ts';

const scanScript = loadScript(import.meta.url, '../scripts/scan-links.lua', {
  keys: ['sameSlot'],
  args: ['cursor', 'pattern', 'count'],
  answer: { cursor: 'text', names: 'texts' },
});
const noteScript = loadScript(import.meta.url, '../scripts/note-sealed-records.lua', {
  keys: ['records'],
  args: ['lifeMs', '...counts'],
});

/** Interval of sweeps in the whole deployment. The first process that is due runs the sweep. */
const SWEEP_EVERY_MS = 10 * MINUTE_MS;
const COUNTS_LIFE_MS = DAY_MS;
/** Keys per scan step, of any kind. A step takes about a millisecond. */
const KEYS_A_STEP = 500;
const READS_AT_ONCE = 20;

export interface SweepParts {
  store: IdentityStore;
  keyRing: KeyRing;
  links: Links;
}

/** Number of encrypted link fields per key id. Lists every key of the ring, with at least 0. */
export type SealedRecords = ReadonlyMap<string, number>;

/**
 * While the ring has more than one key: reads every link, which re-encrypts it with the newest key, and counts the fields
 * per key (SECURITY.md key-rotation). A key with a count of 0 may be removed.
 * @returns the counts of the last complete sweep of any process; undefined if there is none
 * @throws IdentityError `store_away`; another sweep follows
 */
export async function sweepKeys(parts: SweepParts): Promise<SealedRecords | undefined> {
  const { store, keyRing } = parts;
  if (keyRing.keyIds.length < 2) return undefined;
  if (await store.withDeadline((redis) => tryAcquire(redis, keys.keySweep(), SWEEP_EVERY_MS))) await sweepAll(parts);
  const counts = Object.entries(await store.withDeadline((redis) => redis.hgetall(keys.sealedRecords())));
  if (counts.length === 0) return undefined;
  return new Map([
    ...keyRing.keyIds.map((keyId) => [keyId, 0] as const),
    ...counts.map(([keyId, count]) => [keyId, Number(count)] as const),
  ]);
}

async function sweepAll({ store, keyRing, links }: SweepParts): Promise<void> {
  const counts = new Map(keyRing.keyIds.map((keyId) => [keyId, 0]));
  const prefix = keys.link();
  let cursor = '0';
  do {
    const args = { cursor, pattern: `${prefix}*`, count: KEYS_A_STEP };
    const step = await store.run(scanScript, { sameSlot: keys.rechecks() }, args);
    cursor = step.cursor;
    const queue = step.names.map((name) => asPersonId(name.slice(prefix.length)));
    const work = async () => {
      for (let person = queue.pop(); person !== undefined; person = queue.pop()) {
        const link = await links.read(person);
        for (const keyId of link ? keyIdsOf(link) : []) counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, work));
  } while (cursor !== '0');
  const args = { lifeMs: COUNTS_LIFE_MS, counts: [...counts].flat() };
  await store.run(noteScript, { records: keys.sealedRecords() }, args);
}
