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

/** Longer than any caller waits for a reply. A later repetition has no caller left to receive the value. */
const TAKEN_REMEMBERED_MS = 10 * SECOND_MS;
const NAME_BYTES = 16;

/**
 * Removes and returns a key's value: exactly one of any number of callers gets it. Unlike GETDEL it loses no value if the
 * connection breaks before the reply and the command is sent again.
 */
export async function claimOnce(redis: RedisClient, key: string): Promise<string | undefined> {
  // In a cluster, both keys must map to the same slot.
  const taken = key.includes('{') ? `${key}:taken` : `{${key}}:taken`;
  const args = { name: randomToken(NAME_BYTES), rememberedMs: TAKEN_REMEMBERED_MS };
  return takeScript.run(redis, { value: key, taken }, args);
}

/**
 * Whether the caller is the first to set this mark during its lifetime. Unlike SET NX, the first caller gets the same result
 * each time that the connection repeats the command.
 * @param name identifies the caller when the mark is released; must be unique
 */
export async function tryAcquire(
  redis: RedisClient,
  key: string,
  lifeMs: number,
  name = randomToken(NAME_BYTES),
): Promise<boolean> {
  return firstScript.run(redis, { mark: key }, { name, lifeMs });
}
