import type { NowMs } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import type { Audit } from '../audit.ts';
import type { Redeemed } from '../providers/provider.ts';
import { isIdentityError } from '../identity-error.ts';
import type { Profile } from '../oauth/profile-response.ts';
import { proofsFor, type SignInRules } from '../options.ts';
import { PageError } from '../pages/page-error.ts';
import { EXACT_ID, isSamePerson } from '../id-matching.ts';
import type { PendingSignIns } from '../invitations/pending-sign-ins.ts';
import type { Authorizations } from './authorization-request.ts';
import type { ChatApps } from './chat-apps.ts';
import type { ReadEmptyReturn } from './empty-return.ts';
import type { PersonProof } from './person-proof.ts';
import type { PageOutcome, Step } from './step.ts';
import type { Returned, TakeTransaction } from './take-transaction.ts';

/** A failed exchange is followed by this many new starts without asking (SECURITY.md code-used-once). */
const MAX_RESTARTS = 1;

/** Reads the profile, and refuses what may not be linked. */
interface ProfileParts {
  authorizations: Authorizations;
  audit: Audit;
  log: Log;
}

/** Proves that the profile is the ticket's person's. */
interface SameIdParts {
  apps: Pick<ChatApps, 'platformOf'>;
  personProof: PersonProof;
  rules: SignInRules;
}

export interface ServiceReturnParts extends ProfileParts, SameIdParts {
  takeTransaction: TakeTransaction;
  readEmptyReturn: ReadEmptyReturn;
  pendingSignIns: Pick<PendingSignIns, 'keep'>;
  nowMs: NowMs;
}

/**
 * GET of the sign-in service's callback: exchange at once, read the profile, prove, keep in quarantine, and leave the
 * address with the code (SECURITY.md transaction-taken-once, same-id). The code's 10 s have begun before; nothing here waits.
 * @returns a step that throws PageError link-used-up, sign-in-broken-off, other-chat-account, service-failed, account-refused
 */
export function createServiceReturn(parts: ServiceReturnParts): Step {
  const { readEmptyReturn, takeTransaction, rules, pendingSignIns, nowMs } = parts;
  return async (request) => {
    const empty = await readEmptyReturn(request);
    if (empty) return empty;
    const returned = await takeTransaction(request, 'service');
    if ('declined' in returned) return returned.declined;
    const { transaction, ticket, cookieHash } = returned;
    const proofs = proofsFor(rules, ticket.person.platform);
    if (proofs.includes('same-browser') && !transaction.isChatProven) throw new PageError('sign-in-broken-off');
    const obtainedAtMs = nowMs();
    const redeemed = await exchange(parts, returned);
    if (redeemed === 'start-anew') return startAnew(parts, returned);
    const profile = await usableProfile(parts, returned, redeemed);
    if (proofs.includes('same-id')) await proveSameId(parts, returned, profile);
    const { tokens, lifeMs } = redeemed;
    await pendingSignIns.keep(cookieHash, ticket, { profile, tokens, lifeMs, obtainedAtMs });
    return { kind: 'redirect', location: '/sign-in/confirm', isCallback: true };
  };
}

/** One exchange, never repeated with the same code. An answer that is no use leads to one new start, silence to service-failed. */
async function exchange({ authorizations, log }: ProfileParts, returned: Returned): Promise<Redeemed | 'start-anew'> {
  try {
    return await authorizations.redeem(returned);
  } catch (error) {
    if (isIdentityError(error, 'service_refused') && returned.transaction.restarts < MAX_RESTARTS) {
      log.warn({ error }, 'a code exchange failed; the sign-in begins anew');
      return 'start-anew';
    }
    throw authorizations.failure(error, returned.again);
  }
}

async function startAnew(
  { authorizations }: ProfileParts,
  { ticket, cookieHash, transaction: { isChatProven, restarts }, again }: Returned,
): Promise<PageOutcome> {
  const leg = { ticketHash: ticket.hash, cookieHash, isChatProven, restarts: restarts + 1, again };
  const { location, transaction } = await authorizations.toService(leg);
  await authorizations.begin({ ticketHash: ticket.hash, shownCookieHash: cookieHash, cookieHash, transaction });
  return { kind: 'redirect', location, isCallback: true };
}

async function usableProfile(
  { authorizations, audit, log }: ProfileParts,
  { ticket, again }: Returned,
  redeemed: Redeemed,
): Promise<Profile> {
  try {
    return await redeemed.profile();
  } catch (error) {
    if (!isIdentityError(error, 'profile_broken', 'profile_unfit')) throw authorizations.failure(error, again);
    log.warn({ error }, 'a profile was refused');
    audit('link-refused', ticket.person, 'profile');
    throw new PageError('account-refused');
  }
}

/** Proof same-id: before anything is stored, not after, so that a stranger's tokens are never kept at all. */
async function proveSameId(
  { apps, personProof, rules }: SameIdParts,
  returned: Returned,
  profile: Profile,
): Promise<void> {
  const platform = apps.platformOf(returned.ticket.person);
  if (!platform) throw new PageError('link-used-up');
  const plainUserId = await personProof.plainIdOf(returned, platform);
  const isSame = isSamePerson(rules.sameIdRule ?? EXACT_ID, profile, plainUserId);
  if (!isSame) throw await personProof.refuseOther(returned, 'other-account');
}
