import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { outsideCall } from '../fail-point.ts';
import type { RedisClient } from './redis.ts';
import { sendUntilAccepted } from './retry-readonly.ts';
import { answerReader, callOrder } from './script-call.ts';
import { callScript, type StoredScript } from './script-command.ts';
import type { AnswerOf, ArgsOf, KeysOf, ScriptLibrary, ScriptShape } from './script-shape.ts';
import { sourceOf } from './script-source.ts';

/**
 * A Lua script that Redis runs as one atomic step. The first call over a connection contains the whole script, later calls
 * only its SHA-1, so calls are executed in the order in which they were made. If Redis has lost the script (SCRIPT FLUSH, a
 * moved slot of a cluster), the call is sent again, after calls that were made later. Both are safe because all our scripts
 * are idempotent.
 */
export interface LuaScript<Shape extends ScriptShape> {
  /** @throws any error of the connection */
  run(redis: RedisClient, keys: KeysOf<Shape>, args: ArgsOf<Shape>): Promise<AnswerOf<Shape>>;
}

/** Loads functions for several scripts from a file beside the caller. */
export function loadLibrary(base: string, path: string, constants: ScriptLibrary['constants'] = {}): ScriptLibrary {
  return { source: readFileSync(new URL(path, base), 'utf8'), constants };
}

/**
 * Loads a script from a file beside the caller: `loadScript(import.meta.url, './scripts/accept.lua', { keys: ['record', …],
 * … })`. The script uses `keys.record`, never a number, and may call `redisNowMs()` and `redisHistory()`.
 * @throws Error for a name in the script that the shape does not declare
 */
export function loadScript<const Shape extends ScriptShape>(
  base: string,
  path: string,
  shape: Shape,
): LuaScript<Shape> {
  const name = basename(path, '.lua');
  const source = sourceOf(readFileSync(new URL(path, base), 'utf8'), name, shape);
  const place = `redis.${name}`;
  const sha1 = createHash('sha1').update(source).digest('hex');
  const script: StoredScript = { source, sha1, knownTo: new WeakSet() };
  const inOrder = callOrder(shape);
  const read = answerReader(shape);
  return {
    run(redis, keys, args) {
      const call = inOrder(keys, args);
      const send = () => callScript(redis, script, call);
      return outsideCall(place, () => sendUntilAccepted(redis, send)).then(read) as Promise<AnswerOf<Shape>>;
    },
  };
}
