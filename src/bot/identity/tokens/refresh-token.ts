import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import { tryAcquire } from '../../../shared/redis/claim-once.ts';
import { tokensToKeep } from '../links/commit-link.ts';
import { readLinkWithTokens, signInAgain, type LinkWithTokens, type HeldLink, type TokenParts } from './held-tokens.ts';
import { IdentityError, isIdentityError } from '../identity-error.ts';
import { refreshAfterMs } from '../oauth/token-life.ts';
import type { CurrentToken, Renewal } from '../providers/provider.ts';
import type { TokenSet } from '../oauth/token-response.ts';
import { keys } from '../store.ts';
import type { LinkFields } from '../links/stored-link.ts';
import type { KeptTokens } from './vault.ts';

/** Minimum interval between two refreshes of a user (SECURITY.md expiry-unit). */
const REFRESH_FLOOR_MS = MINUTE_MS;
/** A refusal for an unknown reason is final if it is repeated after this time (SECURITY.md refresh-outcomes). */
const SECOND_REFUSAL_MS = MINUTE_MS;
const FIRST_BACKOFF_MS = 5 * SECOND_MS;
const MAX_BACKOFF_MS = 10 * MINUTE_MS;
const CLIENT_REFUSED = 'the sign-in service refuses our client: correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET';

/** @throws IdentityError `refresh_later` if this link's tokens were refreshed, or their refresh refused, a moment ago */
export function refuseTooEarly({ nowMs }: Pick<TokenParts, 'nowMs'>, { link }: HeldLink): void {
  const floorMs = Math.max(link.notBeforeMs, link.lastRefreshAttemptMs + REFRESH_FLOOR_MS);
  if (nowMs() < floorMs) throw new IdentityError('refresh_later', 'This token was just refreshed or refused');
}

/**
 * Refreshes a link's tokens. The caller (access-token.ts) holds the lock. Every outcome is written conditionally on the
 * version that was read.
 * @throws IdentityError `refresh_later`, `sign_in_again`, `store_away`; `profile_unfit` if the new tokens belong to another
 * user
 */
export async function refresh(parts: TokenParts, held: LinkWithTokens): Promise<CurrentToken> {
  const { nowMs, dialect } = parts;
  const { tokens } = held;
  const startedMs = nowMs();
  refuseTooEarly(parts, held);
  if (tokens.refreshToken === undefined) throw signInAgain();
  let renewal: Renewal;
  try {
    renewal = await dialect.renew(tokens);
  } catch (error) {
    if (!isIdentityError(error, 'service_timeout', 'service_unreachable', 'service_refused')) throw error;
    return backOff(parts, held, error);
  }
  if (renewal.kind === 'refused') return judgeRefusal(parts, held, renewal);
  await keep(parts, held, { renewed: renewal.tokens, startedMs });
  return { accessToken: renewal.tokens.accessToken, subject: tokens.subject, claims: renewal.claims };
}

async function keep(
  parts: TokenParts,
  held: LinkWithTokens,
  { renewed, startedMs }: { renewed: TokenSet; startedMs: number },
): Promise<void> {
  const { links, vault, keepTokens } = parts;
  const { key, person, link, tokens } = held;
  const version = link.tokensVersion + 1;
  // A response without a refresh token keeps the current one (SECURITY.md refresh-token-kept).
  const kept = tokensToKeep({ ...tokens, ...tokensOf(renewed) }, keepTokens);
  const isWritten = await links.write(key, 'tokensVersion', link.tokensVersion, {
    tokens: vault.seal({ purpose: 'tokens', person, version }, kept),
    tokensVersion: version,
    refreshAtMs: startedMs + refreshAfterMs(renewed.lifeMs),
    lastRefreshAttemptMs: startedMs,
    ...{ notBeforeMs: 0, failures: 0, refusedAtMs: 0 },
  });
  // The link was removed or replaced in the meantime, so the new token is not usable.
  if (!isWritten) throw new IdentityError('refresh_later', 'The link changed during the refresh');
}

function tokensOf({ accessToken, refreshToken }: TokenSet): KeptTokens {
  return refreshToken === undefined ? { accessToken } : { accessToken, refreshToken };
}

async function judgeRefusal(
  parts: TokenParts,
  held: LinkWithTokens,
  { refusal, status }: Extract<Renewal, { kind: 'refused' }>,
): Promise<CurrentToken> {
  const { nowMs, links, log } = parts;
  const { key, link } = held;
  const cause = new IdentityError('service_refused', `A refresh was refused: ${refusal}, status ${status}`);
  if (refusal === 'definitive') return giveUp(parts, held);
  if (refusal === 'ours') log.error({ status }, CLIENT_REFUSED);
  if (refusal !== 'unknown') return backOff(parts, held, cause);
  if (link.refusedAtMs > 0 && nowMs() - link.refusedAtMs >= SECOND_REFUSAL_MS) return giveUp(parts, held);
  const refusedAtMs = link.refusedAtMs || nowMs();
  await links.write(key, 'tokensVersion', link.tokensVersion, { refusedAtMs, lastRefreshAttemptMs: nowMs() });
  throw new IdentityError('refresh_later', 'A refresh was refused', { cause });
}

/** Keeps the tokens and delays the next attempt with exponential backoff and jitter. */
async function backOff({ nowMs, links }: TokenParts, { key, link }: LinkWithTokens, cause: Error): Promise<never> {
  const maxMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(link.failures, 10), MAX_BACKOFF_MS);
  const notBeforeMs = nowMs() + Math.round(maxMs * (0.5 + Math.random() / 2));
  const fields: LinkFields = { notBeforeMs, failures: link.failures + 1, lastRefreshAttemptMs: nowMs() };
  await links.write(key, 'tokensVersion', link.tokensVersion, fields);
  throw new IdentityError('refresh_later', 'The sign-in service cannot refresh tokens at present', { cause });
}

/**
 * The refresh token is invalid, unless the link has changed in the meantime; then the new state is used (SECURITY.md
 * refresh-outcomes).
 */
async function giveUp(parts: TokenParts, held: LinkWithTokens): Promise<CurrentToken> {
  if (await dropTokens(parts, held, 'token-refused')) throw signInAgain();
  const { link, tokens } = await readLinkWithTokens(parts, held.person);
  const { accessToken, subject } = tokens;
  if (link.tokensVersion !== held.link.tokensVersion && accessToken !== undefined) return { accessToken, subject };
  throw new IdentityError('refresh_later', 'The link changed during the refresh');
}

/**
 * Deletes invalid tokens. The user must sign in again and is notified at most once in 24 hours.
 * @returns false if the link changed in the meantime and nothing was deleted
 * @throws IdentityError `store_away`
 */
export async function dropTokens(
  { links, store, audit, tell }: Pick<TokenParts, 'links' | 'store' | 'audit' | 'tell'>,
  { key, person, link }: HeldLink,
  reason: 'token-refused' | 'record-broken',
): Promise<boolean> {
  const fields: LinkFields = { status: 'reauth', tokens: '', tokensVersion: link.tokensVersion + 1, refreshAtMs: 0 };
  if (!(await links.write(key, 'tokensVersion', link.tokensVersion, fields))) return false;
  audit('sign-in-again', person, reason);
  if (await store.withDeadline((redis) => tryAcquire(redis, keys.notified(key, 'sign-in-again'), DAY_MS)))
    tell(person, { kind: 'sign-in-again' });
  return true;
}
