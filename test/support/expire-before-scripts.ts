import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/shared/redis/redis.ts';
import { interceptScripts } from './intercept-scripts.ts';

/** The effects of scripts after records had expired. */
export interface ExpiryProbe {
  /** Names of the scripts that ran, such as `commit`. */
  readonly ran: Set<string>;
  /** Keys left without an expiry, by script: `commit leaves {p1}:message:… without {p1}:message:…`. */
  readonly left: Set<string>;
  /** Errors of scripts about a missing record. */
  readonly errors: Set<string>;
  /** Resolves once all calls have been tested. */
  settled(): Promise<unknown>;
  stop(): void;
}

/** Databases of the server for snapshots: the first two hold the program's data and the copy. */
const [FIRST_SHELF, LAST_SHELF] = [2, 15];

interface ProbedCall {
  name: string;
  args: unknown[];
  /** The database with the state before the script. */
  database: number;
}

/** All scripts of the program by name, without the parts that scripts include. */
export function allScripts(): Map<string, string> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.lua') && !file.includes('/library/'),
  );
  return new Map(files.map((file) => [basename(file, '.lua'), readFileSync(join('src', file), 'utf8')]));
}

/**
 * Before a client runs a script, runs it in a copy of all records (the server's second database) in which one expiring key
 * has expired, for each such key and for all of them, and checks which keys are left without an expiry.
 * @param mayStay says which keys need none; it receives all keys of the copy
 */
export function expireBeforeScripts(
  redis: RedisClient,
  url: string,
  mayStay: (key: string, all: ReadonlySet<string>) => boolean,
): ExpiryProbe {
  const source = new Redis(url, { maxRetriesPerRequest: null });
  const shelves = new Redis(url, { maxRetriesPerRequest: null });
  const reader = new Redis(url, { maxRetriesPerRequest: null });
  const copy = new Redis(url, { maxRetriesPerRequest: null });
  void copy.select(1);
  const [ran, left, errors] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const nameOf = (script: string) => /^-- (\S+)\.lua$/m.exec(script)?.[1] ?? 'unknown';

  const tried = new Set<string>();

  /** Stores the current state, so that the script itself need not wait for its test. */
  async function shelve(database: number): Promise<void> {
    await shelves.multi().select(database).flushdb().exec();
    const stored = await source.keys('*');
    await Promise.all(stored.map((key) => source.copy(key, key, 'DB', database)));
  }

  async function tryWithout(run: (on: Redis) => Promise<unknown>, { name, args, database }: ProbedCall): Promise<void> {
    await reader.select(database);
    const stored = await reader.keys('*');
    // The same call with the same kinds of records shows nothing new.
    const kinds = [...new Set(stored.map((key) => plain([key])))].toSorted();
    const call = `${name} ${shapeOf(JSON.stringify([args, kinds]))}`;
    if (tried.has(call)) return;
    tried.add(call);
    const lives = await Promise.all(stored.map((key) => reader.pttl(key)));
    const mortal = stored.filter((_key, index) => (lives[index] ?? 0) > 0);
    for (const gone of [...mortal.map((key) => [key]), mortal]) {
      await copy.flushdb();
      await Promise.all(stored.filter((key) => !gone.includes(key)).map((key) => reader.copy(key, key, 'DB', 1)));
      await run(copy).catch((error: unknown) => void errors.add(`${name} without ${plain(gone)}: ${String(error)}`));
      const all = new Set(await copy.keys('*'));
      for (const key of all)
        if ((await copy.pttl(key)) === -1 && !mayStay(key, all))
          left.add(`${name} leaves ${plain([key])} without ${plain(gone)}`);
    }
  }

  // Sequential, since there is only one copy.
  let before: Promise<unknown> = Promise.resolve();
  const inUse = new Map<number, Promise<unknown>>();
  let last = FIRST_SHELF - 1;
  interceptScripts(redis, async (lua, args) => {
    const name = nameOf(lua);
    ran.add(name);
    const database = last === LAST_SHELF ? FIRST_SHELF : last + 1;
    last = database;
    const shelved = (inUse.get(database) ?? Promise.resolve()).then(() => shelve(database));
    const mine = Promise.all([before, shelved]).then(() =>
      tryWithout((on) => on.eval(lua, ...args), { name, args, database }),
    );
    before = mine.catch(() => undefined);
    inUse.set(database, before);
    await shelved;
    return redis.eval(lua, ...args);
  });
  const all = [source, shelves, reader, copy];
  return { ran, left, errors, settled: () => before, stop: () => all.forEach((connection) => connection.disconnect()) };
}

/** A call without its ids, times and encrypted texts. */
function shapeOf(call: string): string {
  return call.replace(/[\w+/=.-]{16,}|\d+/g, '…');
}

/** Keys without their ids, so that one fault is reported once. */
function plain(keys: readonly string[]): string {
  return keys.length === 1 ? (keys[0] ?? '').replace(/[0-9a-f]{16,}|(?<=:)[\w-]{20,}/g, '…') : 'all';
}
