import { asError } from '../../base/coded-error.ts';
import { PlatformError } from '../../platforms/platform-error.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { PlatformName } from '../../domain/message.ts';
import type { IdentityReason } from '../audit.ts';
import type { BrowserRequest, PageOutcome, SignInFlow } from './flow.ts';
import { serviceAuthorization, startAuthorization } from './authorization-request.ts';
import { PageError, type ErrorPage } from '../pages/page-error.ts';
import { takeTransaction, type Returned } from './take-transaction.ts';

/**
 * GET of the platform's callback, proof same-browser (SECURITY.md chat-proof-first): the chat account of this browser must be the one
 * that asked. Only then does the browser go on to the sign-in service.
 * @throws PageError link-used-up, sign-in-broken-off, other-chat-account, service-failed
 */
export async function returnFromPlatform(
  flow: SignInFlow,
  request: BrowserRequest,
  name: PlatformName,
): Promise<PageOutcome> {
  const returned = await takeTransaction(flow, request, `platform/${name}`);
  if ('declined' in returned) return returned.declined;
  const { ticket, cookieHash } = returned;
  const platform = flow.platformOf(ticket.person);
  if (!platform?.webSignIn || platform.name !== name) throw new PageError('sign-in-broken-off');
  const present = await orTryAgain(flow, returned, platform.webSignIn.identify(returned.code).catch(nobodyIfStranger));
  const plainUserId = await plainIdOf(flow, returned, platform);
  if (present.userId !== plainUserId || present.tenant !== ticket.person.tenant) {
    throw await refuseOther(flow, returned, 'other-chat-account');
  }
  const leg = { ticketHash: ticket.hash, cookieHash, isChatProven: true, restarts: 0, again: returned.again };
  const provider = await serviceAuthorization(flow, leg);
  const start = { ticketHash: ticket.hash, shownCookieHash: cookieHash, cookieHash, transaction: provider.transaction };
  await startAuthorization(flow, start);
  return { kind: 'redirect', location: provider.location, isCallback: true };
}

/** Somebody from outside the company is somebody else, not a failure. */
function nobodyIfStranger(thrown: unknown): { userId: string; tenant: string } {
  if (thrown instanceof PlatformError && thrown.code === 'not_a_member') return { userId: '', tenant: '' };
  throw thrown;
}

/**
 * The ticket's chat user id, converted where the platform encrypts it.
 * @throws PageError other-chat-account with a reason of its own where it cannot be converted; service-failed where the platform did not answer
 */
export async function plainIdOf(flow: SignInFlow, returned: Returned, platform: Platform): Promise<string> {
  const { person } = returned.ticket;
  const plainUserId = await orTryAgain(flow, returned, platform.plainUserId(person.chatUserId));
  if (plainUserId !== undefined) return plainUserId;
  throw await refuse(flow, returned, { page: 'chat-account-unverifiable', reason: 'id-unverifiable' });
}

/** Somebody else used the link: it is spent, nothing is linked, and its owner is told. */
export async function refuseOther(flow: SignInFlow, returned: Returned, reason: IdentityReason): Promise<PageError> {
  return refuse(flow, returned, { page: 'other-chat-account', reason });
}

interface Refusal {
  page: ErrorPage;
  reason: IdentityReason;
}

async function refuse(
  flow: SignInFlow,
  { ticket, cookieHash }: Returned,
  { page, reason }: Refusal,
): Promise<PageError> {
  const isAbuse = page === 'other-chat-account';
  const isFirst = await flow.tickets.close(ticket, isAbuse ? 'abused' : 'refused', cookieHash);
  if (isFirst) {
    flow.audit('link-refused', ticket.person, reason);
    if (isAbuse) flow.tell(ticket.person, { kind: 'someone-else-signed-in' });
  }
  return new PageError(page);
}

async function orTryAgain<T>({ log }: SignInFlow, { again }: Returned, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    log.warn({ error: asError(thrown) }, 'the platform did not identify a browser');
    throw new PageError('service-failed', { again });
  }
}
