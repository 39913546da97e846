import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { SECOND_MS } from '../../../src/shared/clock.ts';
import { HELD_LIFE_MS } from '../../../src/bot/domain/message.ts';
import { interceptScripts, type ScriptArguments } from '../../support/intercept-scripts.ts';

/** The scripts that were rewritten to need fewer commands, as they were sent before, without comments. */
const PREVIOUS = new Map(
  ['accept', 'claim', 'commit', 'post'].map((name) => [
    name,
    readFileSync(new URL(`./previous-scripts/${name}.lua`, import.meta.url), 'utf8'),
  ]),
);

/** Two databases that should always be equal. */
export interface Mirror {
  /** Runs each script on both databases, on the second one in its previous form, and compares the replies. */
  redis: Redis;
  /** Verdicts of the compared scripts so far. */
  seen: ReadonlySet<string>;
  /** Writes to both. */
  both<T>(write: (redis: Redis) => Promise<T>): Promise<[T, T]>;
  /** Sets the clock and the history of Redis that scripts read. */
  setWorld(nowMs: number, history: string): Promise<unknown>;
  /** Compares keys, contents and lifetimes. @param withinMs maximum difference of two lifetimes */
  compare(withinMs: () => number): Promise<void>;
  end(): void;
}

export function mirrorScripts(redis: Redis): Mirror {
  const previous = redis.duplicate({ db: 1 });
  const seen = new Set<string>();
  const both: Mirror['both'] = (write) => Promise.all([write(redis), write(previous)]);
  interceptScripts(redis, async (source, args) => {
    const script = /^-- ([\w-]+)\.lua/.exec(source)?.[1] ?? '';
    const argsBefore = script === 'commit' ? previousCommit(args) : args;
    const [reply, before] = await Promise.all([
      redis.eval(observable(source), ...args),
      previous.eval(observable(PREVIOUS.get(script) ?? source), ...argsBefore),
    ]);
    // The previous script that accepts did not reply with the history of Redis.
    const comparable = script === 'accept' ? (reply as unknown[]).slice(0, 2) : reply;
    expect({ script, reply: comparable }).toEqual({ script, reply: before });
    if (PREVIOUS.has(script)) seen.add(`${script} ${String((reply as unknown[])[0])}`);
    return reply;
  });
  return {
    ...{ redis, seen, both },
    setWorld: (nowMs, history) =>
      both((one) =>
        one
          .multi()
          .hset('clock', { seconds: Math.floor(nowMs / SECOND_MS), micros: (nowMs % SECOND_MS) * 1000 })
          .set('replication', `# Replication\r\nrole:master\r\nmaster_replid:${history}\r\nmaster_replid2:00\r\n`)
          .exec(),
      ),
    async compare(withinMs) {
      const [all, before] = await both(stateOf);
      // The previous scripts kept no list of a person's conversations.
      const now = new Map([...all].filter(([key]) => !key.includes(':chats:')));
      const contents = (state: Map<string, Value>) => [...state].map(([key, { content }]) => [key, ...content]);
      expect(contents(now)).toEqual(contents(before));
      const mostMs = withinMs();
      const differing = [...now].filter(([key, { lifeMs }]) => {
        const other = before.get(key)?.lifeMs ?? 0;
        return lifeMs < 0 || other < 0 ? lifeMs !== other : Math.abs(lifeMs - other) > mostMs;
      });
      expect(differing).toEqual([]);
    },
    end: () => previous.disconnect(),
  };
}

/** The clock, the history of Redis and the messages to other processes as keys, so that both databases have the same. */
function observable(lua: string): string {
  return (
    lua
      .replaceAll(`redis.call('TIME')`, `redis.call('HMGET', 'clock', 'seconds', 'micros')`)
      .replaceAll(`redis.pcall('INFO', 'replication')`, `redis.call('GET', 'replication')`)
      .replaceAll(`redis.call('PUBLISH', `, `redis.call('RPUSH', 'published', `)
      // A counter must not end between the calls of a slow test.
      .replaceAll(/'PX', '?60000'?/g, `'PX', 60000000`)
  );
}

/** The previous script received its limits with each call, and the turns for the histories among the changes. */
function previousCommit(args: ScriptArguments): ScriptArguments {
  const [given, append, threadAppend] = args.slice(-3).map(String);
  const {
    kept,
    history,
    noticesShown = [],
    stopServed = 0,
    ...rest
  } = JSON.parse(given ?? '') as {
    kept: object;
    history?: object;
    noticesShown?: string[];
    stopServed?: number;
  };
  const turns = {
    history: history && { ...history, append: append === '' ? undefined : append },
    threadHistory: threadAppend === '' ? undefined : threadAppend,
  };
  const limits = { maxThreads: 500, heldLifeMs: HELD_LIFE_MS, noticesShown, stopServed };
  const changes = JSON.stringify({ ...rest, ...turns, ...limits, kept: { most: 200, ...kept } });
  return [args[0], ...args.slice(1, -3), changes];
}

/** The trace of a turn is newer than the previous scripts. */
const OF_TRACE: ReadonlySet<string> = new Set(['claims', 'did']);

interface Value {
  lifeMs: number;
  content: string[];
}

const READ_ALL = `
  local reads = {string = {'GET'}, list = {'LRANGE', 0, -1}, hash = {'HGETALL'}, zset = {'ZRANGE', 0, -1, 'WITHSCORES'}}
  local all = {}
  for index, key in ipairs(redis.call('KEYS', '*')) do
    local type = redis.call('TYPE', key).ok
    all[index] = {key, type, redis.call('PTTL', key), redis.call(reads[type][1], key, unpack(reads[type], 2))}
  end
  return all`;

/** Type, content and lifetime of each key. */
async function stateOf(redis: Redis): Promise<Map<string, Value>> {
  const rows = (await redis.eval(READ_ALL, 0)) as [string, string, number, string | string[]][];
  // So are dead letters.
  const values = rows
    .filter(([key]) => !key.includes(':dead-letter'))
    .map(([key, type, lifeMs, found]): [string, Value] => {
      const list = [found].flat();
      const fields = list.flatMap((field, at) =>
        at % 2 === 0 && !OF_TRACE.has(field) ? [`${field} = ${list[at + 1] ?? ''}`] : [],
      );
      return [key, { lifeMs, content: [type, ...(type === 'hash' ? fields.sort() : list)] }];
    });
  return new Map(values.sort(([one], [other]) => (one < other ? -1 : 1)));
}
