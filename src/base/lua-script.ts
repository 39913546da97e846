import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { outsideCall } from './fail-point.ts';
import type { RedisClient } from './redis.ts';

/**
 * What a script that calls it is given: the time by Redis' clock, the only one that all processes share; milliseconds. Lua and
 * Redis write such a number as the digits that it has.
 */
const REDIS_NOW_MS = `local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

export type LuaArgument = string | number | Buffer;

/**
 * A Lua script that Redis runs as one atomic step. It is sent by its SHA-1 and, when Redis does not know it yet
 * (first use, restart, failover), once more as a whole; both are safe since every script of ours may be repeated.
 */
export interface LuaScript {
  run(redis: RedisClient, keys: string[], args: LuaArgument[]): Promise<unknown>;
}

/**
 * Reads a script from the file beside the caller: `loadScript(import.meta.url, './scripts/accept.lua')`. It may call
 * `redisNowMs()`.
 * @param constants what the script knows by these names, so that it need not be sent with every call
 */
export function loadScript(base: string, path: string, constants: Record<string, number | string> = {}): LuaScript {
  // Lua reads JSON's numbers and plain strings as its own.
  const locals = Object.entries(constants).map(([name, value]) => `local ${name} = ${JSON.stringify(value)}\n`);
  const script = readFileSync(new URL(path, base), 'utf8');
  const source = locals.join('') + (script.includes('redisNowMs()') ? REDIS_NOW_MS : '') + script;
  const name = `redis.${basename(path, '.lua')}`;
  const sha = createHash('sha1').update(source).digest('hex');
  return {
    run: (redis, keys, args) => outsideCall(name, () => evaluate(redis, keys, args)),
  };

  async function evaluate(redis: RedisClient, keys: string[], args: LuaArgument[]): Promise<unknown> {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(source, keys.length, ...keys, ...args);
    }
  }
}
