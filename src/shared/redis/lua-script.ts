import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { outsideCall } from '../fail-point.ts';
import type { RedisClient } from './redis.ts';
import { sendUntilTaken } from './retry-readonly.ts';
import { answerReader, callOrder, type ScriptCall } from './script-call.ts';
import type { AnswerOf, ArgsOf, KeysOf, ScriptShape } from './script-shape.ts';
import { sourceOf } from './script-source.ts';

/** What a client's names of our scripts begin with. */
const SCRIPT_COMMAND = 'script:';
type ScriptCommand = (...call: ScriptCall) => Promise<unknown>;

/**
 * A Lua script that Redis runs as one atomic step. Its first call over a connection carries it whole, and later ones its SHA-1
 * alone: so calls are carried out in the order in which they were made, the first ones too. Only where Redis has forgotten it
 * (SCRIPT FLUSH, a moved slot of a cluster) it is sent once more, later than what was sent behind it. Both are safe since
 * every script of ours may be repeated.
 */
export interface LuaScript<Shape extends ScriptShape> {
  /** @throws whatever the connection throws */
  run(redis: RedisClient, keys: KeysOf<Shape>, args: ArgsOf<Shape>): Promise<AnswerOf<Shape>>;
}

/**
 * Reads a script from the file beside the caller: `loadScript(import.meta.url, './scripts/accept.lua', { keys: ['record', …], … })`.
 * The script says `keys.record`, and never a number; it may call `redisNowMs()` and `redisHistory()`.
 * @throws Error for a name in the script that the shape does not state
 */
export function loadScript<const Shape extends ScriptShape>(
  base: string,
  path: string,
  shape: Shape,
): LuaScript<Shape> {
  const name = basename(path, '.lua');
  const source = sourceOf(readFileSync(new URL(path, base), 'utf8'), name, shape);
  const place = `redis.${name}`;
  const command = `${SCRIPT_COMMAND}${createHash('sha1').update(source).digest('hex')}`;
  const inOrder = callOrder(shape);
  const read = answerReader(shape);
  return {
    run(redis, keys, args) {
      const commands = redis as unknown as Record<string, ScriptCommand>;
      // Whether a connection has had it is known by ioredis, for each node of a cluster too.
      if (!(command in commands)) redis.defineCommand(command, { lua: source });
      const call = inOrder(keys, args);
      const send = () => commands[command]!(...call);
      return outsideCall(place, () => sendUntilTaken(redis, send)).then(read) as Promise<AnswerOf<Shape>>;
    },
  };
}
