import { Cluster } from 'ioredis';
import type { RedisClient } from './redis.ts';

/** Keys that one SCAN looks at: about a millisecond of Redis. */
const SCAN_COUNT = 2_000;

/** All keys that match a pattern, from all nodes of a cluster. For commands only: the time grows with the number of all keys. */
export async function scanKeys(redis: RedisClient, pattern: string): Promise<string[]> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const found = new Set<string>();
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return [...found];
}
