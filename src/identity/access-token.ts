import { SECOND_MS } from '../base/clock.ts';
import { randomToken } from '../base/ids.ts';
import { SealError } from '../base/key-ring.ts';
import { loadScript } from '../base/lua-script.ts';
import { personKey, type ChatPerson } from './account.ts';
import { IdentityError } from './identity-error.ts';
import { refresh, signInAgain, type Held, type TokenParts } from './refresh-token.ts';
import { keys } from './store.ts';

const releaseLock = loadScript(import.meta.url, './scripts/release-lock.lua');

const LOCK_LIFE_MS = 15 * SECOND_MS;
const POLL_GAP_MS = 150;
const POLL_LIMIT_MS = 6 * SECOND_MS;
export interface AccessTokens {
  /**
   * A usable access token; refreshed by exactly one of any number of callers and processes (security.md 2.7).
   * @param rejected a token that the service has just refused with 401: it counts as stale
   * @throws IdentityError `refresh_later`, `sign_in_again`, `store_away`
   */
  fresh(person: ChatPerson, rejected?: string): Promise<string>;
}

export function createAccessTokens(parts: TokenParts): AccessTokens {
  return {
    async fresh(person, rejected) {
      const held = await hold(parts, person);
      return freshToken(held, parts, rejected) ?? refreshAlone(parts, held, rejected);
    },
  };
}

/** @throws IdentityError `sign_in_again` when there is nothing left to refresh with */
async function hold({ links, vault }: TokenParts, person: ChatPerson): Promise<Held> {
  const key = personKey(person);
  const link = await links.read(key);
  if (!link || link.tokens === '' || link.status === 'reauth') throw signInAgain();
  try {
    const tokens = vault.open({ purpose: 'tokens', person, version: link.tokensVersion }, link.tokens);
    return { key, person, link, tokens };
  } catch (error) {
    throw error instanceof SealError ? signInAgain(error) : error;
  }
}

function freshToken({ link, tokens }: Held, { nowMs }: TokenParts, rejected?: string): string | undefined {
  if (tokens.accessToken === undefined || tokens.accessToken === rejected) return undefined;
  return nowMs() < link.refreshAtMs ? tokens.accessToken : undefined;
}

async function refreshAlone(parts: TokenParts, held: Held, rejected?: string): Promise<string> {
  const { store } = parts;
  const lock = keys.refreshLock(held.key);
  const owner = randomToken(16);
  const taken = await store.ask((redis) => redis.set(lock, owner, 'PX', LOCK_LIFE_MS, 'NX'));
  if (taken === null) return waitForOther(parts, held);
  try {
    const again = await hold(parts, held.person);
    return freshToken(again, parts, rejected) ?? (await refresh(parts, again));
  } finally {
    await store.run(releaseLock, [lock], [owner]).catch(() => undefined);
  }
}

/** The loser of the lock never calls the service; it uses what the holder writes. */
async function waitForOther(parts: TokenParts, { person, link }: Held): Promise<string> {
  const deadlineMs = performance.now() + POLL_LIMIT_MS;
  while (performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_GAP_MS));
    const now = await hold(parts, person);
    if (now.link.tokensVersion !== link.tokensVersion && now.tokens.accessToken !== undefined)
      return now.tokens.accessToken;
  }
  throw new IdentityError('refresh_later', 'Another process is refreshing this token');
}
