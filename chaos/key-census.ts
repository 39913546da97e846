import type { Redis } from 'ioredis';

/** Number of keys of a kind, number of keys without expiry, and the longest remaining lifetime of the others. */
export interface KeyCount {
  count: number;
  endless: number;
  maxLifeMs: number;
}

/** By kind: the key without the parts that differ per message, person, conversation or partition. */
export type KeyCensus = Record<string, KeyCount>;

/** Counts all keys of a Redis. Scans all of them, so it is only for a testbed, never for the product. */
export async function takeCensus(store: Redis): Promise<KeyCensus> {
  const census: KeyCensus = {};
  for await (const names of store.scanStream({ count: 1_000 }) as AsyncIterable<string[]>) {
    const lives = await Promise.all(names.map((name) => store.pttl(name)));
    for (const [index, name] of names.entries()) {
      const lifeMs = lives[index] ?? -2;
      // It expired between the two reads.
      if (lifeMs === -2) continue;
      const own = (census[kindOfKey(name)] ??= { count: 0, endless: 0, maxLifeMs: 0 });
      own.count += 1;
      if (lifeMs === -1) own.endless += 1;
      own.maxLifeMs = Math.max(own.maxLifeMs, lifeMs);
    }
  }
  return census;
}

/** Expires all keys that have a lifetime, as if the longest lifetime had passed, unless they are renewed. */
export async function ageKeys(store: Redis): Promise<void> {
  for await (const names of store.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
    await Promise.all(
      names.map(async (name) => {
        if ((await store.pttl(name)) >= 0) await store.pexpire(name, 1);
      }),
    );
}

/** `{p12}:message:3f…` → `{p}:message`, `{wake3}:parley-wake:de:p…` → `{wake}:parley-wake:de`. */
export function kindOfKey(name: string): string {
  return name
    .split(':')
    .map((part, index) => (index === 0 ? part.replace(/\d+(?=\}$)/, '') : part))
    .filter((part, index) => index < 2 || /^[a-z-]{1,20}$/.test(part))
    .join(':');
}
