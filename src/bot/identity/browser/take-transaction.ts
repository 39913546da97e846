import { sameSecret, sha256Hex } from '../../../shared/crypto/ids.ts';
import type { Audit } from '../audit.ts';
import type { ReturnParameter } from '../providers/provider.ts';
import { declinedPage } from '../pages/closing-pages.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import type { Ticket, Tickets } from '../invitations/invitations.ts';
import type { SignInProvider, Transaction, Transactions } from '../invitations/transactions.ts';
import type { ChatApps } from './chat-apps.ts';
import type { Forms } from './forms.ts';
import { readCallback, type CallbackQuery } from './request-guards.ts';
import type { BrowserRequest, PageOutcome } from './step.ts';

/** A callback that belongs to a transaction of this browser. */
export interface Returned {
  /** The code, or CAS's ticket. */
  code: string;
  query: URLSearchParams;
  cookieHash: string;
  transaction: Transaction;
  ticket: Ticket;
  /** What the pages service-failed and chat-app-failed need to offer a new start. */
  again: TryAgain;
}

/**
 * Takes the transaction that a callback belongs to (SECURITY.md plain-callbacks, state-by-mode). Whatever does not fit exactly is
 * refused, and the transaction is spent.
 * @returns the page for who chose not to sign in, where there is nothing to go on with
 * @throws PageError link-used-up, sign-in-broken-off, service-failed, chat-app-failed
 */
export type TakeTransaction = (
  request: BrowserRequest,
  provider: SignInProvider,
) => Promise<Returned | { declined: PageOutcome }>;

export interface TransactionParts {
  /** How the sign-in service comes back. */
  service: { state: 'required' | 'absent'; returns: ReturnParameter };
  transactions: Pick<Transactions, 'take' | 'peek'>;
  tickets: Pick<Tickets, 'read'>;
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
    const ticket = await boundTicket(parts, transaction, cookieHash);
    const again = tryAgain(parts, cookie, ticket.hash);
    return { code, query: new URLSearchParams(request.querystring), cookieHash, transaction, ticket, again };
  };
}

/** The ticket that this browser began with. @throws PageError link-used-up */
async function boundTicket(
  { tickets }: Pick<TransactionParts, 'tickets'>,
  { ticketHash }: Transaction,
  cookieHash: string,
): Promise<Ticket> {
  const ticket = await tickets.read(ticketHash);
  if (ticket?.status !== 'started' || ticket.browser !== cookieHash) throw new PageError('link-used-up');
  return ticket;
}

/**
 * The platform's authorization always needs its state; the service's may go without only where the deployment says that the
 * service does not return it, and a state that does come back must still be right. Stripping it is the attack.
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
  leg: SignInProvider;
  query: CallbackQuery;
}

/**
 * The other side reported an error. Without our state nothing is taken by it, so that a forged one cannot end a sign-in that goes
 * on. A refusal with our state ends it: then the next invitation in the chat shows a link of its own.
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
  const ticket = await boundTicket(parts, transaction, cookieHash);
  if (query.state !== undefined && isStateRight(parts.service, transaction, query.state)) {
    await parts.transactions.take(cookieHash);
    parts.audit('link-declined', ticket.person);
  }
  const back = parts.apps.backTo(userAgent, ticket.person);
  return { declined: { kind: 'page', back, page: declinedPage({ language, back, again }) } };
}

function tryAgain({ forms }: Pick<TransactionParts, 'forms'>, cookie: string, ticketHash: string): TryAgain {
  return { ticketHash, csrf: forms.token(cookie, ticketHash) };
}
