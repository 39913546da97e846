import { sameSecret, sha256Hex } from '../base/ids.ts';
import type { BrowserRequest, SignInFlow } from './flow.ts';
import { PageError, type TryAgain } from './pages/page-error.ts';
import { csrfToken, readCallback } from './request-guards.ts';
import type { Ticket } from './tickets.ts';
import type { Leg, Transaction } from './transactions.ts';

/** A callback that belongs to a transaction of this browser. */
export interface Returned {
  code: string;
  cookieHash: string;
  transaction: Transaction;
  ticket: Ticket;
  /** What page E4 needs to offer a new start. */
  again: TryAgain;
}

/**
 * Takes the transaction that a callback belongs to (security.md 1.3 steps 11 to 13). Whatever does not fit exactly is
 * refused, and the transaction is spent.
 * @throws PageError E1, E2, E4
 */
export async function takeTransaction(flow: SignInFlow, request: BrowserRequest, leg: Leg): Promise<Returned> {
  const query = readCallback(request.querystring);
  const { cookie } = request;
  if (!query || cookie === undefined) throw new PageError('E2');
  const cookieHash = sha256Hex(cookie);
  if (query.isError || query.code === undefined) throw await refusedThere(flow, cookie, leg);
  const transaction = await flow.transactions.take(cookieHash);
  if (transaction?.leg !== leg) throw new PageError('E2');
  if (!isStateRight(flow, transaction, query.state)) throw new PageError('E2');
  const ticket = await flow.tickets.read(transaction.ticketHash);
  if (ticket?.status !== 'started' || ticket.browser !== cookieHash) throw new PageError('E1');
  return { code: query.code, cookieHash, transaction, ticket, again: tryAgain(flow, cookie, ticket.hash) };
}

/**
 * The platform's leg always needs its state; the service's may go without only where the deployment says that the
 * service does not return it, and a state that does come back must still be right. Stripping it is the attack (T4).
 */
function isStateRight({ signIn }: SignInFlow, { leg, stateHash }: Transaction, state: string | undefined): boolean {
  if (state === undefined) return leg === 'service' && signIn.state === 'absent';
  return sameSecret(sha256Hex(state), stateHash);
}

/** The other side reported an error: nothing is taken, so that a forged error cannot end a sign-in that goes on. */
async function refusedThere(flow: SignInFlow, cookie: string, leg: Leg): Promise<PageError> {
  const transaction = await flow.transactions.peek(sha256Hex(cookie));
  if (transaction?.leg !== leg) return new PageError('E2');
  return new PageError('E4', { again: tryAgain(flow, cookie, transaction.ticketHash) });
}

function tryAgain({ csrfKey }: SignInFlow, cookie: string, ticketHash: string): TryAgain {
  return { ticketHash, csrf: csrfToken(csrfKey, cookie, ticketHash) };
}
