import { say, type Bilingual } from '../../../shared/text/texts.ts';
import type { ChatPerson } from '../account.ts';
import type { Audit } from '../audit.ts';
import type { Committed } from '../links/commit-link.ts';
import type { MakeLink } from '../links/make-link.ts';
import { isAnswered, type FindWaiting, type WaitsFor } from '../links/waiting.ts';
import { proofsFor, type SignInRules } from '../options.ts';
import { cancelledPage, donePage } from '../pages/closing-pages.ts';
import { confirmPage } from '../pages/confirm-page.ts';
import { PageError } from '../pages/page-error.ts';
import type { Tickets } from '../invitations/invitations.ts';
import type { CodeSteps } from '../typed-code/show-code.ts';
import type { ChatApps } from './chat-apps.ts';
import { demandCookie, type FindSignIn } from './find-sign-in.ts';
import type { Forms } from './forms.ts';
import type { BrowserRequest, PageOutcome, Step } from './step.ts';

export interface ConfirmParts {
  findSignIn: FindSignIn;
  forms: Forms;
  rules: SignInRules;
  codeSteps: CodeSteps;
  makeLink: MakeLink;
  tickets: Pick<Tickets, 'close'>;
  audit: Audit;
  apps: Pick<ChatApps, 'backTo'>;
  providerName: Bilingual;
  waitsFor: FindWaiting;
}

/** The steps that end a sign-in. */
export interface ConfirmSteps {
  /** GET: asks whether these two are to be connected; after the connection it says so (SECURITY.md confirmed-by-name). */
  showConfirm: Step;
  /**
   * POST: makes the link in one step (SECURITY.md linked-in-one-step, link-is-told), or with proof typed-code shows the code that the
   * chat person has to type.
   * @throws PageError link-used-up, sign-in-broken-off, page-expired, linked-elsewhere
   */
  confirmSignIn: Step;
  /** POST of the quiet way out: forgets the sign-in. @throws PageError sign-in-broken-off, page-expired */
  cancelSignIn: Step;
}

export function createConfirmSteps(parts: ConfirmParts): ConfirmSteps {
  return {
    showConfirm: (request) => showConfirm(parts, request),
    confirmSignIn: (request) => confirmSignIn(parts, request),
    cancelSignIn: (request) => cancelSignIn(parts, request),
  };
}

async function showConfirm(parts: ConfirmParts, request: BrowserRequest): Promise<PageOutcome> {
  const found = await parts.findSignIn(request.cookie);
  if (found.kind === 'done') return done(parts, request, found);
  const { ticket, signedIn, cookie } = found;
  if (ticket.status === 'awaiting_code') return parts.codeSteps.showCodeAgain(request, found);
  const page = confirmPage({
    language: request.language,
    person: ticket.person,
    profile: signedIn.profile,
    providerName: say(parts.providerName, request.language),
    csrf: parts.forms.token(cookie, ticket.hash),
    endsWithCode: proofsFor(parts.rules, ticket.person.platform).includes('typed-code'),
    isAwaited: isAnswered(await parts.waitsFor(ticket.person)),
  });
  return { kind: 'page', page };
}

async function confirmSignIn(parts: ConfirmParts, request: BrowserRequest): Promise<PageOutcome> {
  const { findSignIn, forms, rules, codeSteps, makeLink } = parts;
  const found = await findSignIn(demandCookie(request));
  forms.demandOwn(request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(parts, request, found);
  if (proofsFor(rules, found.ticket.person.platform).includes('typed-code')) return codeSteps.awaitCode(request, found);
  const committed = await makeLink(found);
  const { name } = found.signedIn.profile;
  const { person } = found.ticket;
  if (committed.kind === 'linked') return done(parts, request, { name, waitsFor: committed.waitsFor }, person);
  if (committed.kind !== 'linked-before') throw conflict(committed);
  // The other half of a double click has told, and noted what waited.
  const before = await findSignIn(found.cookie);
  return done(parts, request, before.kind === 'done' ? before : { name, waitsFor: 'nothing' }, person);
}

async function cancelSignIn(parts: ConfirmParts, request: BrowserRequest): Promise<PageOutcome> {
  const { findSignIn, forms, tickets, audit, apps } = parts;
  const found = await findSignIn(demandCookie(request));
  forms.demandOwn(request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  if (found.kind === 'done') return done(parts, request, found);
  await tickets.close(found.ticket, 'refused', found.cookieHash);
  audit('link-cancelled', found.ticket.person);
  const { language, userAgent } = request;
  const back = apps.backTo(userAgent, found.ticket.person);
  return { kind: 'page', back, page: cancelledPage({ language, back }) };
}

type Conflict = Exclude<Committed, { kind: 'linked' | 'linked-before' }>;

function conflict(committed: Conflict): PageError {
  if (committed.kind === 'gone') return new PageError('link-used-up');
  return new PageError(committed.kind === 'already-linked' ? 'chat-linked-elsewhere' : 'linked-elsewhere');
}

function done(
  { apps }: Pick<ConfirmParts, 'apps'>,
  { language, userAgent }: BrowserRequest,
  { name, waitsFor }: { name: string; waitsFor: WaitsFor },
  person?: ChatPerson,
): PageOutcome {
  const back = apps.backTo(userAgent, person);
  return { kind: 'page', back, page: donePage({ language, back, name, waitsFor }) };
}
