import { say } from '../../base/texts.ts';
import type { ChatPerson } from '../account.ts';
import type { Committed } from '../links/commit-link.ts';
import { findSignIn, demandCookie, type WaitingSignIn } from './find-sign-in.ts';
import { demandOwnForm, type BrowserRequest, type PageOutcome, type SignInFlow } from './flow.ts';
import { reportConflict } from './link-conflict.ts';
import { maskId } from '../mask.ts';
import { cancelledPage, donePage } from '../pages/closing-pages.ts';
import { confirmPage } from '../pages/confirm-page.ts';
import { proofsFor } from '../options.ts';
import { PageError } from '../pages/page-error.ts';
import { csrfToken } from './request-guards.ts';
import { awaitCode, showCodeAgain } from '../typed-code/show-code.ts';
import { isAnswered, type WaitsFor } from '../links/waiting.ts';

/** GET: asks whether these two are to be connected; after the connection it says so (SECURITY.md confirmed-by-name). @throws PageError */
export async function showConfirm(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  const found = await findSignIn(flow, request.cookie);
  if (found.kind === 'done') return done(flow, request, found);
  const { ticket, signedIn, cookie } = found;
  if (ticket.status === 'awaiting_code') return showCodeAgain(flow, request, found);
  const page = confirmPage({
    language: request.language,
    person: ticket.person,
    profile: signedIn.profile,
    providerName: say(flow.providerName, request.language),
    csrf: csrfToken(flow.csrfKey, cookie, ticket.hash),
    endsWithCode: proofsFor(flow.signIn, ticket.person.platform).includes('typed-code'),
    isAwaited: isAnswered(await flow.waitsFor(ticket.person)),
  });
  return { kind: 'page', page };
}

/**
 * POST: makes the link in one step (SECURITY.md linked-in-one-step, link-is-told), or with proof typed-code shows the code that the chat person
 * has to type (step 21).
 * @throws PageError link-used-up, sign-in-broken-off, page-expired, linked-elsewhere
 */
export async function confirmSignIn(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  const found = await findSignIn(flow, demandCookie(request));
  demandOwnForm(flow, request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(flow, request, found);
  if (proofsFor(flow.signIn, found.ticket.person.platform).includes('typed-code'))
    return awaitCode(flow, request, found);
  const committed = await flow.commit(found, (late) => tellOutcome(flow, found, late));
  tellOutcome(flow, found, committed);
  const { name } = found.signedIn.profile;
  const { person } = found.ticket;
  if (committed.kind === 'linked') return done(flow, request, { name, waitsFor: committed.waitsFor }, person);
  if (committed.kind !== 'linked-before') throw conflict(committed);
  // The other half of a double click has told, and noted what waited.
  const before = await findSignIn(flow, found.cookie);
  return done(flow, request, before.kind === 'done' ? before : { name, waitsFor: 'nothing' }, person);
}

/** Tells whoever has to know what became of a confirmed sign-in, though its browser was told that Redis is away. */
function tellOutcome(flow: SignInFlow, { ticket, signedIn }: WaitingSignIn, committed: Committed): void {
  const { person } = ticket;
  const { id, name } = signedIn.profile;
  if (committed.kind === 'linked') {
    flow.audit('linked', person);
    for (const release of committed.releases) flow.release(release);
    flow.tell(person, { kind: 'linked', name, maskedId: maskId(id), atMs: flow.nowMs() });
  } else if (committed.kind !== 'linked-before' && committed.kind !== 'gone') {
    reportConflict(flow, person, committed);
  }
}

/** POST of the quiet way out: forgets the sign-in. @throws PageError sign-in-broken-off, page-expired */
export async function cancelSignIn(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  const found = await findSignIn(flow, demandCookie(request));
  demandOwnForm(flow, request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(flow, request, found);
  await flow.tickets.close(found.ticket, 'refused', found.cookieHash);
  flow.audit('link-cancelled', found.ticket.person);
  const { language, userAgent } = request;
  const back = flow.backTo(userAgent, found.ticket.person);
  return { kind: 'page', back, page: cancelledPage({ language, back }) };
}

type Conflict = Exclude<Committed, { kind: 'linked' | 'linked-before' }>;

function conflict(committed: Conflict): PageError {
  if (committed.kind === 'gone') return new PageError('link-used-up');
  return new PageError(committed.kind === 'already-linked' ? 'chat-linked-elsewhere' : 'linked-elsewhere');
}

function done(
  flow: SignInFlow,
  { language, userAgent }: BrowserRequest,
  { name, waitsFor }: { name: string; waitsFor: WaitsFor },
  person?: ChatPerson,
): PageOutcome {
  const back = flow.backTo(userAgent, person);
  return { kind: 'page', back, page: donePage({ language, back, name, waitsFor }) };
}
