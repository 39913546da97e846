import { SECOND_MS } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import type { ChatPerson } from '../account.ts';
import type { CurrentToken } from '../providers/provider.ts';
import { readLinkWithTokens, type LinkWithTokens, type TokenParts } from './held-tokens.ts';
import { IdentityError } from '../identity-error.ts';
import { refresh, refuseTooEarly } from './refresh-token.ts';
import { keys } from '../store.ts';

const releaseLock = loadScript(import.meta.url, '../scripts/release-lock.lua', {
  keys: ['lock'],
  args: ['owner'],
  answer: 'flag',
});

const LOCK_LIFE_MS = 15 * SECOND_MS;
const POLL_GAP_MS = 100;
/** Random addition to the poll interval, so that waiting callers do not poll in step. */
const POLL_JITTER_MS = 100;
const POLL_LIMIT_MS = 6 * SECOND_MS;

export interface AccessTokens {
  /**
   * Returns a usable access token. Of any number of callers and processes, exactly one refreshes it (SECURITY.md
   * one-refresh).
   * @param rejected a token that the service has just refused with 401 and that counts as stale
   * @throws IdentityError `refresh_later`, `sign_in_again`, `store_away`
   */
  fresh(person: ChatPerson, rejected?: string): Promise<string>;
  /**
   * The same, with the user that the token was issued for.
   * @param options.forcesRefresh refreshes even a valid token
   * @throws IdentityError as `fresh`; `profile_unfit` if the new token belongs to another user
   */
  current(person: ChatPerson, options?: { rejected?: string; forcesRefresh?: boolean }): Promise<CurrentToken>;
}

export function createAccessTokens(parts: TokenParts): AccessTokens {
  const current: AccessTokens['current'] = async (person, { rejected, forcesRefresh = false } = {}) => {
    const held = await readLinkWithTokens(parts, person);
    const stale = forcesRefresh ? held.tokens.accessToken : rejected;
    return freshToken(held, parts, stale) ?? refreshUnderLock(parts, held, stale);
  };
  return {
    current,
    fresh: async (person, rejected) => {
      const { accessToken } = await current(person, { rejected });
      return accessToken;
    },
  };
}

function freshToken(
  { link, tokens }: LinkWithTokens,
  { nowMs }: TokenParts,
  rejected?: string,
): CurrentToken | undefined {
  const { accessToken, subject } = tokens;
  if (accessToken === undefined || accessToken === rejected) return undefined;
  return nowMs() < link.refreshAtMs ? { accessToken, subject } : undefined;
}

/**
 * Refreshes under a lock. Callers without the lock never call the service: they wait for the holder's result, stop as soon
 * as the holder records a refusal, and take over when the lock of a crashed holder expires.
 */
async function refreshUnderLock(parts: TokenParts, first: LinkWithTokens, rejected?: string): Promise<CurrentToken> {
  const { store } = parts;
  const lock = keys.refreshLock(first.key);
  const owner = randomToken(16);
  const deadlineMs = performance.now() + POLL_LIMIT_MS;
  let held = first;
  while (performance.now() < deadlineMs) {
    refuseTooEarly(parts, held);
    if (await store.withDeadline((redis) => tryAcquire(redis, lock, LOCK_LIFE_MS, owner)))
      return refreshLocked(parts, held, { lock, owner, rejected });
    await new Promise((resolve) => setTimeout(resolve, POLL_GAP_MS + Math.random() * POLL_JITTER_MS));
    held = await readLinkWithTokens(parts, held.person);
    const token = freshToken(held, parts, rejected);
    if (token !== undefined) return token;
  }
  throw new IdentityError('refresh_later', 'Another process is refreshing this token');
}

/** Another caller may have refreshed before the lock was taken, so the holder reads again (SECURITY.md read-after-lock). */
async function refreshLocked(
  parts: TokenParts,
  { person }: LinkWithTokens,
  { lock, owner, rejected }: { lock: string; owner: string; rejected: string | undefined },
): Promise<CurrentToken> {
  try {
    const again = await readLinkWithTokens(parts, person);
    return freshToken(again, parts, rejected) ?? (await refresh(parts, again));
  } finally {
    await parts.store.run(releaseLock, { lock }, { owner }).catch(() => undefined);
  }
}
