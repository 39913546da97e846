import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/base/redis.ts';

/** What scripts did where records had expired before them. */
export interface ExpiryProbe {
  /** Names of the scripts that ran, such as `commit`. */
  readonly ran: Set<string>;
  /** Keys that were left without a life, by script: `commit leaves {p1}:message:… without {p1}:message:…`. */
  readonly left: Set<string>;
  /** Errors of scripts that did not expect that a record is gone. */
  readonly errors: Set<string>;
  stop(): void;
}

/** All scripts of the program, by name, with their text. */
export function allScripts(): Map<string, string> {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.lua'));
  return new Map(files.map((file) => [basename(file, '.lua'), readFileSync(join('src', file), 'utf8')]));
}

/**
 * Before a client runs a script, runs it in a copy of all that is stored (the server's second database) in which one key that
 * can expire has expired, each of them in turn, and then all of them; and looks at what is left there without a life.
 * @param mayStay says which keys need none; it is given all that the copy holds
 */
export function expireBeforeScripts(
  redis: RedisClient,
  url: string,
  mayStay: (key: string, all: ReadonlySet<string>) => boolean,
): ExpiryProbe {
  const source = new Redis(url, { maxRetriesPerRequest: null });
  const copy = new Redis(url, { maxRetriesPerRequest: null });
  void copy.select(1);
  const [ran, left, errors] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const nameOf = (script: string) => /^-- (\S+)\.lua$/m.exec(script)?.[1] ?? 'unknown';

  async function tryWithout(run: (on: Redis) => Promise<unknown>, name: string): Promise<void> {
    const stored = await source.keys('*');
    const lives = await Promise.all(stored.map((key) => source.pttl(key)));
    const mortal = stored.filter((_key, index) => (lives[index] ?? 0) > 0);
    for (const gone of [...mortal.map((key) => [key]), mortal]) {
      await copy.flushdb();
      await Promise.all(stored.filter((key) => !gone.includes(key)).map((key) => source.copy(key, key, 'DB', 1)));
      await run(copy).catch((error: unknown) => void errors.add(`${name} without ${plain(gone)}: ${String(error)}`));
      const all = new Set(await copy.keys('*'));
      for (const key of all)
        if ((await copy.pttl(key)) === -1 && !mayStay(key, all))
          left.add(`${name} leaves ${plain([key])} without ${plain(gone)}`);
    }
  }

  // One after another: there is one copy.
  let before: Promise<unknown> = Promise.resolve();
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (command, definition) => {
    define(command, definition);
    const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const original = commands[command]?.bind(redis);
    const name = nameOf(definition.lua);
    const probed = async (...args: [number, ...(string | number)[]]) => {
      ran.add(name);
      const mine = before.then(() => tryWithout((on) => on.eval(definition.lua, ...args), name));
      before = mine.catch(() => undefined);
      await mine;
      return original?.(...args);
    };
    Object.assign(redis, { [command]: probed });
  };
  return { ran, left, errors, stop: () => [source, copy].forEach((connection) => connection.disconnect()) };
}

/** Keys without the ids in them, so that one fault is told once. */
function plain(keys: readonly string[]): string {
  return keys.length === 1 ? (keys[0] ?? '').replace(/[0-9a-f]{16,}|(?<=:)[\w-]{20,}/g, '…') : 'all';
}
