import { DAY_MS } from '../../shared/clock.ts';
import type { LuaScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { AnswerOf, ArgsOf, KeysOf, ScriptShape } from '../../shared/redis/script-shape.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { IdentityError } from './identity-error.ts';
import type { PersonId } from '../domain/ids.ts';

/**
 * Deadline of a command. The client's options do not cover a connection that was never established (SECURITY.md
 * acknowledged-when-stored).
 */
const COMMAND_DEADLINE_MS = 1_500;

/** How long the time of a person's last link change is kept. Much longer than any process remembers the change. */
export const CHANGED_LIFE_MS = DAY_MS;

/** The sign-in records in Redis. All keys share the hash tag `{id}`, so that one script can commit a link. */
export interface IdentityStore {
  /** Runs one or more commands. @throws IdentityError `store_away` */
  withDeadline<T>(command: (redis: RedisClient) => Promise<T>): Promise<T>;
  /** Runs a script. @throws IdentityError `store_away` */
  run<Shape extends ScriptShape>(
    script: LuaScript<Shape>,
    keys: KeysOf<Shape>,
    args: ArgsOf<Shape>,
  ): Promise<AnswerOf<Shape>>;
}

export function createStore(redis: RedisClient): IdentityStore {
  const ask: IdentityStore['withDeadline'] = async (command) => {
    try {
      return await withTimeout(command(redis), COMMAND_DEADLINE_MS);
    } catch (cause) {
      throw new IdentityError('store_away', 'Redis did not answer', { cause });
    }
  };
  return { withDeadline: ask, run: (script, keys, args) => ask((client) => script.run(client, keys, args)) };
}

/** Key names. Called without an id, each returns the prefix that a script completes. */
export const keys = {
  invitation: (ticketHash = '') => `{id}:ticket:${ticketHash}`,
  liveInvitation: (person = '') => `{id}:live:${person}`,
  minted: (person: PersonId) => `{id}:minted:${person}`,
  waiting: (person: PersonId) => `{id}:waiting:${person}`,
  transaction: (cookieHash = '') => `{id}:transaction:${cookieHash}`,
  quarantine: (cookieHash = '') => `{id}:pending:${cookieHash}`,
  code: (mac: string) => `{id}:code:${mac}`,
  typed: (person: PersonId) => `{id}:typed:${person}`,
  link: (person = '') => `{id}:link:${person}`,
  changed: (person: PersonId) => `{id}:changed:${person}`,
  holder: (accountKey = '') => `{id}:holder:${accountKey}`,
  release: (releaseId = '') => `{id}:release:${releaseId}`,
  unlinked: (message: string) => `{id}:unlinked:${message}`,
  releases: () => '{id}:releases',
  rechecks: () => '{id}:rechecks',
  refreshLock: (person: PersonId) => `{id}:lock:${person}`,
  keySweep: () => '{id}:key-sweep',
  sealedRecords: () => '{id}:sealed-records',
  notified: (person: PersonId, kind: string) => `{id}:told:${kind}:${person}`,
  failures: (address: string, minute: number) => `{id}:failures:${minute}:${address}`,
} as const;
