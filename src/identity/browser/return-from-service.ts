import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { isIdentityError } from '../identity-error.ts';
import { serviceAuthorization, serviceFailure, startAuthorization } from './authorization-request.ts';
import { readEmptyReturn } from './empty-return.ts';
import type { Redeemed } from '../dialects/dialect.ts';
import type { Profile } from '../oauth/profile-response.ts';
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
  const empty = await readEmptyReturn(flow, request);
  if (empty) return empty;
  const returned = await takeTransaction(flow, request, 'service');
  if ('declined' in returned) return returned.declined;
  const { transaction, ticket } = returned;
  const proofs = proofsFor(flow.signIn, ticket.person.platform);
  if (proofs.includes('same-browser') && !transaction.isChatProven) throw new PageError('sign-in-broken-off');
  const obtainedAtMs = flow.nowMs();
  const redeemed = await exchange(flow, returned);
  if (redeemed === 'start-anew') return startAnew(flow, returned);
  const profile = await usableProfile(flow, returned, redeemed);
  if (proofs.includes('same-id')) await proveSameId(flow, returned, profile);
  await keep(flow, returned, { profile, tokens: redeemed.tokens, lifeMs: redeemed.lifeMs, obtainedAtMs });
  return { kind: 'redirect', location: '/sign-in/confirm', isCallback: true };
}

/** One exchange, never repeated with the same code. An answer that is no use leads to one new start, silence to service-failed. */
async function exchange(
  flow: SignInFlow,
  { code, query, cookieHash, transaction, again }: Returned,
): Promise<Redeemed | 'start-anew'> {
  const kept = flow.keyRing.open('pkce-verifier', cookieHash, transaction.verifier ?? '');
  const { redirectUri } = transaction;
  try {
    return await flow.dialect.redeem({ code, query, redirectUri, state: query.get('state') ?? '', kept });
  } catch (error) {
    if (isIdentityError(error, 'service_refused') && transaction.restarts < MAX_RESTARTS) {
      flow.log.warn({ error }, 'a code exchange failed; the sign-in begins anew');
      return 'start-anew';
    }
    throw serviceFailure(flow, error, again);
  }
}

async function startAnew(flow: SignInFlow, { ticket, cookieHash, transaction, again }: Returned): Promise<PageOutcome> {
  const { isChatProven, restarts } = transaction;
  const provider = await serviceAuthorization(flow, {
    ticketHash: ticket.hash,
    cookieHash,
    isChatProven,
    restarts: restarts + 1,
    again,
  });
  const start = { ticketHash: ticket.hash, shownCookieHash: cookieHash, cookieHash, transaction: provider.transaction };
  await startAuthorization(flow, start);
  return { kind: 'redirect', location: provider.location, isCallback: true };
}

async function usableProfile(flow: SignInFlow, { ticket, again }: Returned, redeemed: Redeemed): Promise<Profile> {
  try {
    return await redeemed.profile();
  } catch (error) {
    if (!isIdentityError(error, 'profile_broken', 'profile_unfit')) throw serviceFailure(flow, error, again);
    flow.log.warn({ error }, 'a profile was refused');
    flow.audit('link-refused', ticket.person, 'profile');
    throw new PageError('account-refused');
  }
}

/** Proof same-id: before anything is stored, not after, so that a stranger's tokens are never kept at all. */
async function proveSameId(flow: SignInFlow, returned: Returned, profile: Profile): Promise<void> {
  const platform = flow.platformOf(returned.ticket.person);
  if (!platform) throw new PageError('link-used-up');
  const plainUserId = await plainIdOf(flow, returned, platform);
  const isSame = isSamePerson(flow.signIn.sameIdRule ?? EXACT_ID, profile, plainUserId);
  if (!isSame) throw await refuseOther(flow, returned, 'other-account');
}

async function keep(flow: SignInFlow, { ticket, cookieHash }: Returned, brought: SignedIn): Promise<void> {
  const record = { purpose: 'quarantine', person: ticket.person, version: ticket.hash } as const;
  const sealed = flow.vault.seal(record, brought);
  const expiresAtMs = flow.nowMs() + PENDING_SIGN_IN_LIFE_MS;
  await flow.pendingSignIns.put(cookieHash, { kind: 'waiting', ticketHash: ticket.hash, sealed, expiresAtMs });
}
