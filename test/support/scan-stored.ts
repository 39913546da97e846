import type { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import type { RedisClient } from '../../src/shared/redis/redis.ts';

const SEALED = /s1\.[0-9a-f]{8}\.[\w-]+/g;
const PURPOSES = [
  ...['message', 'target', 'history', 'summary', 'media', 'feedback', 'preferences', 'notice', 'follow-up', 'answer'],
  ...['leftover', 'link-person', 'audit-person', 'legal-hold', 'erasure', 'reply', 'follow-up-file', 'reconciliation'],
];

/** A place where a text is stored: the key, and the purpose that it is encrypted for. */
export interface StoredText {
  key: string;
  text: string;
}

/** All names and values of Redis, each as it is, and decrypted wherever a purpose and an owner of the key's name open it. */
export async function readStored(redis: RedisClient, keyRing: KeyRing): Promise<StoredText[]> {
  const found: StoredText[] = [];
  for (const key of await redis.keys('*')) {
    const values = await valuesOf(redis, key);
    const owners = new Set([key, ...ownersIn(key), ...values.flatMap(ownersIn), 'audit']);
    for (const text of [key, ...values]) {
      found.push({ key, text });
      for (const [sealed] of text.matchAll(SEALED))
        for (const opened of openAll(keyRing, sealed, owners)) found.push({ key, text: opened });
    }
  }
  return found;
}

async function valuesOf(redis: RedisClient, key: string): Promise<string[]> {
  switch (await redis.type(key)) {
    case 'string':
      return [(await redis.get(key)) ?? ''];
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'hash':
      return Object.entries(await redis.hgetall(key)).flat();
    case 'stream':
      return (await redis.xrange(key, '-', '+')).flatMap(([, fields]) => fields);
    default:
      return [];
  }
}

function ownersIn(text: string): string[] {
  const names = (text.match(/[0-9a-f]{16,40}(?::\d+)?/g) ?? []).flatMap((name) => [name, name.replace(/:.*/, '')]);
  const person = /:preferences:(\w+)/.exec(text)?.[1];
  return person === undefined ? [...names, text.slice(0, 60)] : [...names, person];
}

function openAll(keyRing: KeyRing, sealed: string, owners: ReadonlySet<string>): string[] {
  const all = [...owners];
  // Preferences belong to a person and a chat.
  const pairs = all.length < 12 ? all.flatMap((one) => all.map((other) => `${one}|${other}`)) : [];
  const tried = [...all, ...pairs];
  const opened: string[] = [];
  for (const purpose of PURPOSES)
    for (const owner of tried) {
      try {
        opened.push(keyRing.open(purpose, owner, sealed));
      } catch {
        // Encrypted for something else.
      }
    }
  return opened;
}
