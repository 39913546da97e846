import { asError } from '../../base/coded-error.ts';
import { sha256Hex } from '../../base/ids.ts';
import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { isIdentityError } from '../identity-error.ts';
import { serviceAuthorization, startAuthorization } from './authorization-request.ts';
import { readProfile, type Profile } from '../oauth/profile-response.ts';
import { readTokenResponse, type TokenSet } from '../oauth/token-response.ts';
import { signedOutPage } from '../pages/closing-pages.ts';
import { proofsFor } from '../options.ts';
import { PageError } from '../pages/page-error.ts';
import { PENDING_SIGN_IN_LIFE_MS } from '../tickets/pending-sign-ins.ts';
import { plainIdOf, refuseOther } from './return-from-platform.ts';
import { EXACT_ID, isSamePerson } from '../same-id.ts';
import { takeTransaction, type Returned } from './take-transaction.ts';
import type { SignedIn } from '../tokens/vault.ts';

/** A failed exchange is followed by this many new starts without asking (SECURITY.md code-used-once). */
const MAX_RESTARTS = 1;

/**
 * GET of the sign-in service's callback: exchange at once, read the profile, prove, keep in quarantine, and leave the
 * address with the code (SECURITY.md transaction-taken-once, same-id). The code's 10 s have begun before; nothing here waits.
 * @throws PageError link-used-up, sign-in-broken-off, other-chat-account, service-failed, account-refused
 */
export async function returnFromService(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  if (await isSignedOut(flow, request)) return signedOut(flow, request);
  const returned = await takeTransaction(flow, request, 'service');
  if ('declined' in returned) return returned.declined;
  const { transaction, ticket } = returned;
  const proofs = proofsFor(flow.signIn, ticket.person.platform);
  if (proofs.includes('same-browser') && !transaction.isChatProven) throw new PageError('sign-in-broken-off');
  const obtainedAtMs = flow.nowMs();
  const tokens = await exchange(flow, returned);
  if (tokens === 'start-anew') return startAnew(flow, returned);
  const profile = await usableProfile(flow, returned, tokens);
  if (proofs.includes('same-id')) await proveSameId(flow, returned, profile);
  await keep(flow, returned, { profile, tokens, lifeMs: tokens.lifeMs, obtainedAtMs });
  return { kind: 'redirect', location: '/sign-in/confirm', isCallback: true };
}

/**
 * Signing out at the service ends at its registered address too, and brings nothing with it (`/unlink` offers that way). A browser that
 * is signing in has something to bring, so a way back that lost it is none.
 */
async function isSignedOut({ transactions }: SignInFlow, { querystring, cookie }: BrowserRequest): Promise<boolean> {
  if (querystring !== '') return false;
  return cookie === undefined || (await transactions.peek(sha256Hex(cookie))) === undefined;
}

function signedOut(flow: SignInFlow, { language, userAgent }: BrowserRequest): PageOutcome {
  const back = flow.backTo(userAgent);
  return { kind: 'page', back, page: signedOutPage({ language, back }) };
}

/** One exchange, never repeated with the same code. An answer that is no use leads to one new start, silence to service-failed. */
async function exchange(
  flow: SignInFlow,
  { code, cookieHash, transaction, again }: Returned,
): Promise<TokenSet | 'start-anew'> {
  const codeVerifier = flow.keyRing.open('pkce-verifier', cookieHash, transaction.verifier ?? '');
  try {
    const answer = await flow.service.exchangeCode({ code, redirectUri: transaction.redirectUri, codeVerifier });
    return readTokenResponse(answer, flow.signIn.expiresUnit);
  } catch (error) {
    if (isIdentityError(error, 'service_refused') && transaction.restarts < MAX_RESTARTS) {
      flow.log.warn({ error }, 'a code exchange failed; the sign-in begins anew');
      return 'start-anew';
    }
    throw serviceFailure(flow, error, again);
  }
}

async function startAnew(flow: SignInFlow, { ticket, cookieHash, transaction }: Returned): Promise<PageOutcome> {
  const { isChatProven, restarts } = transaction;
  const provider = serviceAuthorization(flow, {
    ticketHash: ticket.hash,
    cookieHash,
    isChatProven,
    restarts: restarts + 1,
  });
  const start = { ticketHash: ticket.hash, shownCookieHash: cookieHash, cookieHash, transaction: provider.transaction };
  await startAuthorization(flow, start);
  return { kind: 'redirect', location: provider.location, isCallback: true };
}

async function usableProfile(
  flow: SignInFlow,
  { ticket, again }: Returned,
  { accessToken }: TokenSet,
): Promise<Profile> {
  try {
    return readProfile(await flow.service.profile(accessToken), flow.profileRules);
  } catch (error) {
    if (!isIdentityError(error, 'profile_broken', 'profile_unfit')) throw serviceFailure(flow, error, again);
    flow.log.warn({ error }, 'a profile was refused');
    flow.audit('link-refused', ticket.person, 'profile');
    throw new PageError('account-refused');
  }
}

function serviceFailure(flow: SignInFlow, thrown: unknown, again: Returned['again']): Error {
  if (!isIdentityError(thrown, 'service_timeout', 'service_unreachable', 'service_refused')) return asError(thrown);
  flow.log.warn({ error: thrown }, 'the sign-in service failed');
  return new PageError('service-failed', { again, status: thrown.code === 'service_timeout' ? 504 : undefined });
}

/** Proof same-id: before anything is stored, not after, so that a stranger's tokens are never kept at all. */
async function proveSameId(flow: SignInFlow, returned: Returned, profile: Profile): Promise<void> {
  const platform = flow.platformOf(returned.ticket.person);
  if (!platform) throw new PageError('link-used-up');
  const plainUserId = await plainIdOf(flow, returned, platform);
  const isSame = isSamePerson(flow.signIn.sameIdRule ?? EXACT_ID, profile, plainUserId);
  if (!isSame) throw await refuseOther(flow, returned, 'other-account');
}

interface Brought extends Omit<SignedIn, 'tokens'> {
  tokens: TokenSet;
}

async function keep(
  flow: SignInFlow,
  { ticket, cookieHash }: Returned,
  { profile, tokens, lifeMs, obtainedAtMs }: Brought,
) {
  const { accessToken, refreshToken } = tokens;
  const kept = refreshToken === undefined ? { accessToken } : { accessToken, refreshToken };
  const record = { purpose: 'quarantine', person: ticket.person, version: ticket.hash } as const;
  const sealed = flow.vault.seal(record, { profile, tokens: kept, lifeMs, obtainedAtMs });
  const expiresAtMs = flow.nowMs() + PENDING_SIGN_IN_LIFE_MS;
  await flow.pendingSignIns.put(cookieHash, { kind: 'waiting', ticketHash: ticket.hash, sealed, expiresAtMs });
}
