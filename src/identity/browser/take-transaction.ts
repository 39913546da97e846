import { sameSecret, sha256Hex } from '../../base/ids.ts';
import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { declinedPage } from '../pages/closing-pages.ts';
import { PageError, type TryAgain } from '../pages/page-error.ts';
import { csrfToken, readCallback, type CallbackQuery } from './request-guards.ts';
import type { Ticket } from '../tickets/tickets.ts';
import type { SignInProvider, Transaction } from '../tickets/transactions.ts';

/** A callback that belongs to a transaction of this browser. */
export interface Returned {
  /** The code, or CAS's ticket. */
  code: string;
  query: URLSearchParams;
  cookieHash: string;
  transaction: Transaction;
  ticket: Ticket;
  /** What page service-failed needs to offer a new start. */
  again: TryAgain;
}

/**
 * Takes the transaction that a callback belongs to (SECURITY.md plain-callbacks, state-by-mode). Whatever does not fit exactly is
 * refused, and the transaction is spent.
 * @returns the page for who chose not to sign in, where there is nothing to go on with
 * @throws PageError link-used-up, sign-in-broken-off, service-failed
 */
export async function takeTransaction(
  flow: SignInFlow,
  request: BrowserRequest,
  provider: SignInProvider,
): Promise<Returned | { declined: PageOutcome }> {
  const query = readCallback(request.querystring, provider === 'service' ? flow.dialect.returns : undefined);
  const { cookie } = request;
  if (!query || cookie === undefined) throw new PageError('sign-in-broken-off');
  const cookieHash = sha256Hex(cookie);
  if (query.isError || query.code === undefined) return refusedThere(flow, request, { cookie, leg: provider, query });
  const transaction = await flow.transactions.take(cookieHash);
  if (transaction?.leg !== provider) throw new PageError('sign-in-broken-off');
  if (!isStateRight(flow, transaction, query.state)) throw new PageError('sign-in-broken-off');
  const ticket = await boundTicket(flow, transaction, cookieHash);
  const again = tryAgain(flow, cookie, ticket.hash);
  return { code: query.code, query: new URLSearchParams(request.querystring), cookieHash, transaction, ticket, again };
}

/** The ticket that this browser began with. @throws PageError link-used-up */
async function boundTicket({ tickets }: SignInFlow, { ticketHash }: Transaction, cookieHash: string): Promise<Ticket> {
  const ticket = await tickets.read(ticketHash);
  if (ticket?.status !== 'started' || ticket.browser !== cookieHash) throw new PageError('link-used-up');
  return ticket;
}

/**
 * The platform's authorization always needs its state; the service's may go without only where the deployment says that the
 * service does not return it, and a state that does come back must still be right. Stripping it is the attack.
 */
function isStateRight(
  { signIn }: SignInFlow,
  { leg: provider, stateHash }: Transaction,
  state: string | undefined,
): boolean {
  if (state === undefined) return provider === 'service' && signIn.state === 'absent';
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
  flow: SignInFlow,
  { language, userAgent }: BrowserRequest,
  { cookie, leg: provider, query }: RefusedThere,
): Promise<{ declined: PageOutcome }> {
  const cookieHash = sha256Hex(cookie);
  const transaction = await flow.transactions.peek(cookieHash);
  if (provider !== transaction?.leg) throw new PageError('sign-in-broken-off');
  const again = tryAgain(flow, cookie, transaction.ticketHash);
  if (!query.isDenied) throw new PageError('service-failed', { again });
  const ticket = await boundTicket(flow, transaction, cookieHash);
  if (query.state !== undefined && isStateRight(flow, transaction, query.state)) {
    await flow.transactions.take(cookieHash);
    flow.audit('link-declined', ticket.person);
  }
  const back = flow.backTo(userAgent, ticket.person);
  return { declined: { kind: 'page', back, page: declinedPage({ language, back, again }) } };
}

function tryAgain({ csrfKey }: SignInFlow, cookie: string, ticketHash: string): TryAgain {
  return { ticketHash, csrf: csrfToken(csrfKey, cookie, ticketHash) };
}
