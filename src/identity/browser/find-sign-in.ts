import { sha256Hex } from '../../base/ids.ts';
import { SealError } from '../../base/key-ring.ts';
import type { CommitRequest } from '../links/commit-link.ts';
import type { BrowserRequest, SignInFlow } from './flow.ts';
import { PageError } from '../pages/page-error.ts';
import type { WaitsFor } from '../links/waiting.ts';
import { openSignedIn, type PendingSignIn } from '../tickets/pending-sign-ins.ts';

/** A finished sign-in of this browser that waits for its confirmation, or for its code to be typed. */
export interface WaitingSignIn extends CommitRequest {
  kind: 'waiting';
  cookie: string;
  quarantined: PendingSignIn & { kind: 'waiting' };
}

/** One that has made its link; the name is the account's. */
export interface DoneSignIn {
  kind: 'done';
  name: string;
  ticketHash: string;
  /** What waited when the link was made. */
  waitsFor: WaitsFor;
}

/** @throws PageError page-expired: a form without the cookie is not one of ours */
export function demandCookie({ cookie }: BrowserRequest): string {
  if (cookie === undefined) throw new PageError('page-expired');
  return cookie;
}

/** @throws PageError sign-in-broken-off when this browser has nothing to confirm, link-used-up when its ticket is over */
export async function findSignIn(
  flow: SignInFlow,
  cookie: string | undefined,
  isSecondLook = false,
): Promise<WaitingSignIn | DoneSignIn> {
  if (cookie === undefined) throw new PageError('sign-in-broken-off');
  const cookieHash = sha256Hex(cookie);
  const read = await flow.pendingSignIns.read(cookieHash);
  if (!read) throw new PageError('sign-in-broken-off');
  const { quarantined: pending, text } = read;
  if (pending.kind === 'done') return openDone(flow, cookieHash, pending);
  const ticket = await flow.tickets.read(pending.ticketHash);
  // Between the two reads the other half of a double click, or the typed code, may have made the link.
  if (ticket?.status === 'done' && !isSecondLook) return findSignIn(flow, cookie, true);
  const isOpen = ticket?.status === 'started' || ticket?.status === 'awaiting_code';
  if (!isOpen || ticket.browser !== cookieHash) throw new PageError('link-used-up');
  const signedIn = openOrRefuse(() => openSignedIn(flow, ticket, pending));
  return { kind: 'waiting', ticket, cookie, cookieHash, quarantined: pending, quarantineText: text, signedIn };
}

function openDone(
  flow: SignInFlow,
  cookieHash: string,
  { sealedName, ticketHash, waitsFor = 'nothing' }: PendingSignIn & { kind: 'done' },
): DoneSignIn {
  const name = openOrRefuse(() => flow.keyRing.open('done-page', cookieHash, sealedName));
  return { kind: 'done', name, ticketHash, waitsFor };
}

/** A record that does not open (altered, its key gone) is no record. */
function openOrRefuse<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw error instanceof SealError ? new PageError('sign-in-broken-off') : error;
  }
}
