import { sha256Hex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpen, type OpenResult } from '../../../shared/crypto/decrypt-record.ts';
import type { CommitRequest } from '../links/commit-link.ts';
import { PageError } from '../pages/page-error.ts';
import type { WaitsFor } from '../links/waiting.ts';
import type { PendingSignIn, PendingSignIns } from '../invitations/pending-sign-ins.ts';
import type { Invitations } from '../invitations/invitations.ts';
import type { BrowserRequest } from './step.ts';

/** A completed sign-in of this browser that awaits confirmation or a typed code. */
export interface WaitingSignIn extends CommitRequest {
  kind: 'waiting';
  cookie: string;
  quarantined: PendingSignIn & { kind: 'waiting' };
}

/** A sign-in that has created its link. The name is the account's. */
export interface DoneSignIn {
  kind: 'done';
  name: string;
  ticketHash: string;
  /** What was waiting when the link was created. */
  waitsFor: WaitsFor;
}

/** @throws PageError page-expired, since a form without the cookie was not issued by us */
export function requireCookie({ cookie }: BrowserRequest): string {
  if (cookie === undefined) throw new PageError('page-expired');
  return cookie;
}

/** @throws PageError sign-in-broken-off if this browser has nothing to confirm, link-used-up if its invitation has ended */
export type FindSignIn = (cookie: string | undefined) => Promise<WaitingSignIn | DoneSignIn>;

export interface FindSignInParts {
  pendingSignIns: Pick<PendingSignIns, 'read' | 'open'>;
  invitations: Pick<Invitations, 'read'>;
  keyRing: KeyRing;
}

export function createFindSignIn(parts: FindSignInParts): FindSignIn {
  return (cookie) => find(parts, cookie);
}

async function find(
  parts: FindSignInParts,
  cookie: string | undefined,
  isSecondLook = false,
): Promise<WaitingSignIn | DoneSignIn> {
  const { pendingSignIns, invitations, keyRing } = parts;
  if (cookie === undefined) throw new PageError('sign-in-broken-off');
  const cookieHash = sha256Hex(cookie);
  const read = await pendingSignIns.read(cookieHash);
  if (!read) throw new PageError('sign-in-broken-off');
  const { quarantined: pending, text } = read;
  if (pending.kind === 'done') return openDone(keyRing, cookieHash, pending);
  const invitation = await invitations.read(pending.ticketHash);
  // Between the two reads, the other request of a double click or the typed code may have created the link.
  if (invitation?.status === 'done' && !isSecondLook) return find(parts, cookie, true);
  const isOpen = invitation?.status === 'started' || invitation?.status === 'awaiting_code';
  if (!isOpen || invitation.browser !== cookieHash) throw new PageError('link-used-up');
  const signedIn = openedOrRefused(pendingSignIns.open(invitation, pending));
  return {
    kind: 'waiting',
    invitation,
    cookie,
    cookieHash,
    quarantined: pending,
    quarantineText: text,
    signedIn,
  };
}

function openDone(
  keyRing: KeyRing,
  cookieHash: string,
  { sealedName, ticketHash, waitsFor = 'nothing' }: PendingSignIn & { kind: 'done' },
): DoneSignIn {
  const name = openedOrRefused(tryOpen(() => keyRing.open('done-page', cookieHash, sealedName)));
  return { kind: 'done', name, ticketHash, waitsFor };
}

/** A record that is corrupt or whose key is missing counts as absent. */
function openedOrRefused<Value>(opened: OpenResult<Value>): Value {
  if (opened.kind !== 'opened') throw new PageError('sign-in-broken-off');
  return opened.value;
}
