import { sameSecret, sha256Hex } from '../../../shared/crypto/ids.ts';
import type { Audit } from '../audit.ts';
import type { CallbackParameter } from '../providers/provider.ts';
import { declinedPage } from '../pages/closing-pages.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import type { Invitation, Invitations } from '../invitations/invitations.ts';
import type { SignInLeg, Transaction, Transactions } from '../invitations/transactions.ts';
import type { ChatApps } from './chat-apps.ts';
import type { Forms } from './forms.ts';
import { readCallback, type CallbackQuery } from './request-guards.ts';
import type { BrowserRequest, PageOutcome } from './step.ts';

/** A valid callback of this browser. */
export interface SignInCallback {
  /** The code, or the CAS service ticket. */
  code: string;
  query: URLSearchParams;
  cookieHash: string;
  transaction: Transaction;
  invitation: Invitation;
  /** Data for the "try again" form of the pages service-failed and chat-app-failed. */
  again: TryAgain;
}

/**
 * Takes the transaction of a callback (SECURITY.md plain-callbacks, state-by-mode). Anything that does not match exactly is
 * refused and the transaction is used up.
 * @returns `declined` with a page if the user chose not to sign in
 * @throws PageError link-used-up, sign-in-broken-off, service-failed, chat-app-failed
 */
export type TakeTransaction = (
  request: BrowserRequest,
  provider: SignInLeg,
) => Promise<SignInCallback | { declined: PageOutcome }>;

export interface TransactionParts {
  /** How the sign-in service's callback looks. */
  service: { state: 'required' | 'absent'; returns: CallbackParameter };
  transactions: Pick<Transactions, 'take' | 'peek'>;
  invitations: Pick<Invitations, 'read'>;
  forms: Pick<Forms, 'token'>;
  apps: Pick<ChatApps, 'backTo'>;
  audit: Audit;
}

export function createTakeTransaction(parts: TransactionParts): TakeTransaction {
  const { service, transactions } = parts;
  return async (request, provider) => {
    const query = readCallback(request.querystring, provider === 'service' ? service.returns : undefined);
    const { cookie } = request;
    if (!query || cookie === undefined) throw new PageError('sign-in-broken-off');
    const cookieHash = sha256Hex(cookie);
    const { code } = query;
    if (query.isError || code === undefined) return refusedThere(parts, request, { cookie, leg: provider, query });
    const transaction = await transactions.take(cookieHash);
    if (transaction?.leg !== provider) throw new PageError('sign-in-broken-off');
    if (!isStateRight(service, transaction, query.state)) throw new PageError('sign-in-broken-off');
    const invitation = await requireBoundInvitation(parts, transaction, cookieHash);
    const again = tryAgain(parts, cookie, invitation.hash);
    return {
      code,
      query: new URLSearchParams(request.querystring),
      cookieHash,
      transaction,
      invitation,
      again,
    };
  };
}

/** The invitation to which this browser is bound. @throws PageError link-used-up */
async function requireBoundInvitation(
  { invitations }: Pick<TransactionParts, 'invitations'>,
  { ticketHash }: Transaction,
  cookieHash: string,
): Promise<Invitation> {
  const invitation = await invitations.read(ticketHash);
  if (invitation?.status !== 'started' || invitation.browser !== cookieHash) throw new PageError('link-used-up');
  return invitation;
}

/**
 * Callbacks of the platform always need `state`. Callbacks of the service may lack it only if the configuration says that
 * the service does not return it; a returned `state` must still match. Removing `state` is the attack.
 */
function isStateRight(
  service: TransactionParts['service'],
  { leg: provider, stateHash }: Transaction,
  state: string | undefined,
): boolean {
  if (state === undefined) return provider === 'service' && service.state === 'absent';
  return sameSecret(sha256Hex(state), stateHash);
}

interface RefusedThere {
  cookie: string;
  leg: SignInLeg;
  query: CallbackQuery;
}

/**
 * Handles an error reported by the platform or the service. Without a valid `state` the transaction is kept, so that a
 * forged error cannot end a sign-in in progress. A refusal with a valid `state` ends it, and the next invitation in the chat
 * has a new link.
 */
async function refusedThere(
  parts: TransactionParts,
  { language, userAgent }: BrowserRequest,
  { cookie, leg: provider, query }: RefusedThere,
): Promise<{ declined: PageOutcome }> {
  const cookieHash = sha256Hex(cookie);
  const transaction = await parts.transactions.peek(cookieHash);
  if (provider !== transaction?.leg) throw new PageError('sign-in-broken-off');
  const again = tryAgain(parts, cookie, transaction.ticketHash);
  if (!query.isDenied) throw new PageError(provider === 'service' ? 'service-failed' : 'chat-app-failed', { again });
  const invitation = await requireBoundInvitation(parts, transaction, cookieHash);
  if (query.state !== undefined && isStateRight(parts.service, transaction, query.state)) {
    await parts.transactions.take(cookieHash);
    parts.audit('link-declined', invitation.person);
  }
  const back = parts.apps.backTo(userAgent, invitation.person);
  return { declined: { kind: 'page', back, page: declinedPage({ language, back, again }) } };
}

function tryAgain({ forms }: Pick<TransactionParts, 'forms'>, cookie: string, ticketHash: string): TryAgain {
  return { ticketHash, csrf: forms.token(cookie, ticketHash) };
}
