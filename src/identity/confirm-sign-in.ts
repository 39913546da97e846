import { sha256Hex } from '../base/ids.ts';
import { SealError } from '../base/key-ring.ts';
import type { CommitRequest, Committed } from './commit-link.ts';
import { demandOwnForm, type BrowserRequest, type Outcome, type SignInFlow } from './flow.ts';
import { maskId } from './mask.ts';
import { cancelledPage, donePage } from './pages/closing-pages.ts';
import { confirmPage } from './pages/confirm-page.ts';
import { PageError } from './pages/page-error.ts';
import type { Quarantined } from './quarantine.ts';
import { csrfToken } from './request-guards.ts';

type Waiting = CommitRequest & { kind: 'waiting' };
interface Done {
  kind: 'done';
  name: string;
  ticketHash: string;
}

/** GET: asks whether these two are to be connected; after the connection it says so (security.md 1.3 step 20). @throws PageError */
export async function showConfirm(flow: SignInFlow, request: BrowserRequest): Promise<Outcome> {
  const { cookie, language } = request;
  const found = await findSignIn(flow, cookie);
  if (found.kind === 'done') return done(flow, request, found.name);
  const { ticket, signedIn } = found;
  const csrf = csrfToken(flow.csrfKey, cookie ?? '', ticket.hash);
  const { profile } = signedIn;
  const { providerName } = flow;
  return { kind: 'page', page: confirmPage({ language, person: ticket.person, profile, providerName, csrf }) };
}

/** POST: makes the link in one step (security.md 1.3 steps 22 and 23). @throws PageError E1, E2, E5, E7 */
export async function confirmSignIn(flow: SignInFlow, request: BrowserRequest): Promise<Outcome> {
  const found = await findSignIn(flow, demandCookie(request));
  demandOwnForm(flow, request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(flow, request, found.name);
  const { person } = found.ticket;
  const { id, name } = found.signedIn.profile;
  const committed = await flow.commit(found);
  if (committed.kind === 'linked-before') return done(flow, request, name);
  if (committed.kind !== 'linked') throw conflict(flow, found, committed);
  flow.audit('linked', person);
  for (const release of committed.releases) flow.release(release);
  flow.tell(person, { kind: 'linked', name, maskedId: maskId(id), atMs: flow.nowMs() });
  return done(flow, request, name);
}

/** POST of the quiet way out: forgets the sign-in. @throws PageError E2, E5 */
export async function cancelSignIn(flow: SignInFlow, request: BrowserRequest): Promise<Outcome> {
  const cookie = demandCookie(request);
  const found = await findSignIn(flow, cookie);
  demandOwnForm(flow, request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(flow, request, found.name);
  await flow.tickets.close(found.ticket, 'refused', sha256Hex(cookie));
  flow.audit('link-cancelled', found.ticket.person);
  return { kind: 'page', page: cancelledPage(request.language) };
}

/** @throws PageError E5: a form without the cookie is not one of ours */
function demandCookie({ cookie }: BrowserRequest): string {
  if (cookie === undefined) throw new PageError('E5');
  return cookie;
}

/** @throws PageError E2 when this browser has nothing to confirm, E1 when its ticket is over */
async function findSignIn(flow: SignInFlow, cookie: string | undefined, isSecondLook = false): Promise<Waiting | Done> {
  const cookieHash = cookie === undefined ? undefined : sha256Hex(cookie);
  const read = cookieHash === undefined ? undefined : await flow.quarantine.read(cookieHash);
  if (!read || cookieHash === undefined) throw new PageError('E2');
  const { quarantined, text } = read;
  if (quarantined.kind === 'done') return openDone(flow, cookieHash, quarantined);
  const ticket = await flow.tickets.read(quarantined.ticketHash);
  // Between the two reads the other half of a double click may have made the link.
  if (ticket?.status === 'done' && !isSecondLook) return findSignIn(flow, cookie, true);
  if (ticket?.status !== 'started' || ticket.browser !== cookieHash) throw new PageError('E1');
  const record = { purpose: 'quarantine', person: ticket.person, version: ticket.hash } as const;
  const signedIn = openOr('E2', () => flow.vault.open(record, quarantined.sealed));
  return { kind: 'waiting', ticket, cookieHash, quarantineText: text, signedIn };
}

function openDone(
  flow: SignInFlow,
  cookieHash: string,
  { sealedName, ticketHash }: Quarantined & { kind: 'done' },
): Done {
  const name = openOr('E2', () => flow.keyRing.open('done-page', cookieHash, sealedName));
  return { kind: 'done', name, ticketHash };
}

/** A record that does not open (altered, its key gone) is no record. */
function openOr<T>(page: 'E2', open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw error instanceof SealError ? new PageError(page) : error;
  }
}

type Conflict = Exclude<Committed, { kind: 'linked' | 'linked-before' }>;

function conflict(flow: SignInFlow, { ticket }: Waiting, committed: Conflict): PageError {
  if (committed.kind === 'gone') return new PageError('E1');
  if (committed.kind === 'already-linked') {
    flow.audit('link-refused', ticket.person, 'already-linked');
    return new PageError('E7-this-chat');
  }
  flow.audit('link-refused', ticket.person, 'linked-elsewhere');
  if (committed.holder) flow.tell(committed.holder, { kind: 'account-wanted-elsewhere' });
  return new PageError('E7');
}

function done({ chatUrl }: SignInFlow, { language }: BrowserRequest, name: string): Outcome {
  return { kind: 'page', page: donePage(language, name, chatUrl) };
}
