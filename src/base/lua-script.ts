import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { outsideCall } from './fail-point.ts';
import type { RedisClient } from './redis.ts';
import { sendUntilTaken } from './refused-writes.ts';

/**
 * What a script that calls it is given: the time by Redis' clock, the only one that all processes share; milliseconds. Lua and
 * Redis write such a number as the digits that it has.
 */
const REDIS_NOW_MS = `local function redisNowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/** What a client's names of our scripts begin with. */
const SCRIPT_COMMAND = 'script:';
type ScriptCommand = (keyCount: number, ...keysAndArgs: LuaArgument[]) => Promise<unknown>;

/**
 * What a script that calls it is given: a name for the history of writes that this Redis stands for. One that took over from
 * another, or that began from its files, has another name. Empty where it is not told.
 */
const REDIS_HISTORY = `local function redisHistory()
  local told = redis.pcall('INFO', 'replication')
  return type(told) == 'string' and string.match(told, 'master_replid:(%w+)') or ''
end
`;

export type LuaArgument = string | number | Buffer;

/**
 * A Lua script that Redis runs as one atomic step. Its first call over a connection carries it whole, and later ones its SHA-1
 * alone: so calls are carried out in the order in which they were made, the first ones too. Only where Redis has forgotten it
 * (SCRIPT FLUSH, a moved slot of a cluster) it is sent once more, later than what was sent behind it. Both are safe since
 * every script of ours may be repeated.
 */
export interface LuaScript {
  run(redis: RedisClient, keys: string[], args: LuaArgument[]): Promise<unknown>;
}

/**
 * Reads a script from the file beside the caller: `loadScript(import.meta.url, './scripts/accept.lua')`. It may call
 * `redisNowMs()` and `redisHistory()`.
 * @param constants what the script knows by these names, so that it need not be sent with every call
 */
export function loadScript(base: string, path: string, constants: Record<string, number | string> = {}): LuaScript {
  // Lua reads JSON's numbers and plain strings as its own.
  const locals = Object.entries(constants).map(([name, value]) => `local ${name} = ${JSON.stringify(value)}\n`);
  const script = readFileSync(new URL(path, base), 'utf8');
  const helpers = [
    script.includes('redisNowMs()') ? REDIS_NOW_MS : '',
    script.includes('redisHistory()') ? REDIS_HISTORY : '',
  ];
  const source = [...locals, ...helpers, script].join('');
  const place = `redis.${basename(path, '.lua')}`;
  const command = `${SCRIPT_COMMAND}${createHash('sha1').update(source).digest('hex')}`;
  return {
    run(redis, keys, args) {
      const commands = redis as unknown as Record<string, ScriptCommand>;
      // Whether a connection has had it is known by ioredis, for each node of a cluster too.
      if (!(command in commands)) redis.defineCommand(command, { lua: source });
      const send = () => commands[command]!(keys.length, ...keys, ...args);
      return outsideCall(place, () => sendUntilTaken(redis, send));
    },
  };
}
