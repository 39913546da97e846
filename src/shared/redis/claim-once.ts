import { SECOND_MS } from '../clock.ts';
import { randomToken } from '../crypto/ids.ts';
import { loadScript } from './lua-script.ts';
import type { RedisClient } from './redis.ts';

const takeScript = loadScript(import.meta.url, './scripts/take-once.lua', {
  keys: ['value', 'taken'],
  args: ['name', 'rememberedMs'],
  answer: 'text?',
});
const firstScript = loadScript(import.meta.url, './scripts/be-first.lua', {
  keys: ['mark'],
  args: ['name', 'lifeMs'],
  answer: 'flag',
});

/** Longer than any caller waits for an answer; after that nobody is there to whom it could be given. */
const TAKEN_REMEMBERED_MS = 10 * SECOND_MS;
const NAME_BYTES = 16;

/**
 * Takes the value of a key: of any number of callers one gets it. Unlike GETDEL it loses nothing where the connection breaks
 * before the answer came, and sends the command again.
 */
export async function takeOnce(redis: RedisClient, key: string): Promise<string | undefined> {
  // Both keys must lie in the same slot of a cluster.
  const taken = key.includes('{') ? `${key}:taken` : `{${key}}:taken`;
  const args = { name: randomToken(NAME_BYTES), rememberedMs: TAKEN_REMEMBERED_MS };
  return takeScript.run(redis, { value: key, taken }, args);
}

/**
 * Whether the caller is the first to set this mark while it lives. Unlike SET NX, the first one is told so however often the
 * connection sends the command.
 * @param name of the caller, for whoever gives the mark back; any that nobody else has
 */
export async function isFirst(
  redis: RedisClient,
  key: string,
  lifeMs: number,
  name = randomToken(NAME_BYTES),
): Promise<boolean> {
  return firstScript.run(redis, { mark: key }, { name, lifeMs });
}
