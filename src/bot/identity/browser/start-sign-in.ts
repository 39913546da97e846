import { randomToken, sha256Hex } from '../../../shared/crypto/ids.ts';
import { say, type Bilingual } from '../../../shared/text/texts.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { Audit } from '../audit.ts';
import { isAnswered, type FindWaiting } from '../links/waiting.ts';
import { proofsFor, type SignInRules } from '../options.ts';
import { landingPage, openInAppPage } from '../pages/landing-page.ts';
import { PageError } from '../pages/page-error.ts';
import type { Ticket, Tickets } from '../invitations/invitations.ts';
import type { Authorizations } from './authorization-request.ts';
import type { ChatApps } from './chat-apps.ts';
import type { Forms } from './forms.ts';
import type { BrowserRequest, PageOutcome, Step, StepOf } from './step.ts';

const TICKET = /^[A-Za-z0-9_-]{43}$/;

export interface StartParts {
  tickets: Pick<Tickets, 'read'>;
  apps: ChatApps;
  rules: SignInRules;
  forms: Forms;
  authorizations: Authorizations;
  audit: Audit;
  providerName: Bilingual;
  waitsFor: FindWaiting;
}

/** The steps that begin a sign-in. */
export interface StartSteps {
  /** GET of the link: shows who would be connected, and changes nothing (SECURITY.md opening-changes-nothing). */
  showLanding: StepOf<string>;
  /** POST of the landing page's button (SECURITY.md same-origin-forms). */
  startSignIn: StepOf<string>;
  /** POST of "try again" on the pages service-failed and chat-app-failed; the form names the ticket by its hash, of use to the bound browser only. */
  startAgain: Step;
}

export function createStartSteps(parts: StartParts): StartSteps {
  return {
    showLanding: (request, linkTicket) => showLanding(parts, request, linkTicket),
    startSignIn: async (request, linkTicket) => begin(parts, request, ticketHashOf(linkTicket)),
    async startAgain(request) {
      const ticketHash = request.form['ticket'];
      if (typeof ticketHash !== 'string' || !/^[0-9a-f]{64}$/.test(ticketHash)) throw new PageError('page-expired');
      return begin(parts, request, ticketHash);
    },
  };
}

async function showLanding(parts: StartParts, request: BrowserRequest, linkTicket: string): Promise<PageOutcome> {
  const ticketHash = ticketHashOf(linkTicket);
  // Who went to the chat to type the code may come back by the link, to read it again.
  if (await showsCode(parts, request, ticketHash)) return { kind: 'redirect', location: '/sign-in/confirm' };
  const ticket = await openTicket(parts, request, ticketHash);
  const platform = parts.apps.platformOf(ticket.person);
  if (!platform) throw new PageError('link-used-up');
  const cookie = request.cookie ?? randomToken();
  if (belongsInApp(parts, request, platform)) return openInApp(parts, request, ticket);
  // The page's form may lead there only if the address is known by then.
  await parts.authorizations.prepare();
  const proofs = proofsFor(parts.rules, ticket.person.platform);
  const page = landingPage({
    language: request.language,
    person: ticket.person,
    providerName: say(parts.providerName, request.language),
    action: `/link/${linkTicket}/start`,
    csrf: parts.forms.token(cookie, ticket.hash),
    asksApp: proofs.includes('same-browser') && platform.webSignIn?.needsAppBrowser === false,
    endsWithCode: proofs.includes('typed-code'),
    isAwaited: isAnswered(await parts.waitsFor(ticket.person)),
  });
  return { kind: 'page', page, cookie };
}

/** Whether the next step would fail in this browser, and use the link up (SECURITY.md chat-proof-first). */
function belongsInApp(
  { rules }: Pick<StartParts, 'rules'>,
  { userAgent }: BrowserRequest,
  platform: Platform,
): boolean {
  const needsApp =
    proofsFor(rules, platform.name).includes('same-browser') && platform.webSignIn?.needsAppBrowser === true;
  return needsApp && !platform.isAppBrowser(userAgent);
}

function openInApp(
  { apps, providerName }: Pick<StartParts, 'apps' | 'providerName'>,
  { language, userAgent }: BrowserRequest,
  { person }: Ticket,
): PageOutcome {
  const back = apps.backTo(userAgent, person);
  return {
    kind: 'page',
    back,
    page: openInAppPage({ language, person, providerName: say(providerName, language), back }),
  };
}

async function begin(parts: StartParts, request: BrowserRequest, ticketHash: string): Promise<PageOutcome> {
  const { forms, apps, rules, authorizations } = parts;
  const shownCookie = forms.demandOwn(request, ticketHash);
  const ticket = await openTicket(parts, request, ticketHash);
  const platform = apps.platformOf(ticket.person);
  if (!platform) throw new PageError('link-used-up');
  if (belongsInApp(parts, request, platform)) return openInApp(parts, request, ticket);
  // A new value from here on, so that a cookie known to anybody from before the start is worth nothing (step 9).
  const cookie = randomToken();
  const cookieHash = sha256Hex(cookie);
  // Should the service be away, the browser still has the cookie that it was shown the page with.
  const again = { ticketHash, csrf: forms.token(shownCookie, ticketHash) };
  const { location, transaction } = proofsFor(rules, platform.name).includes('same-browser')
    ? await authorizations.toPlatform(platform, { ticketHash, cookieHash, again })
    : await authorizations.toService({ ticketHash, cookieHash, isChatProven: false, restarts: 0, again });
  const shownCookieHash = sha256Hex(shownCookie);
  await authorizations.begin({ ticketHash, shownCookieHash, cookieHash, transaction });
  parts.audit('link-started', ticket.person);
  return { kind: 'redirect', location, cookie };
}

/** A ticket that this browser may use: new, or started by itself. One page for all else, so that it tells nothing (link-used-up). */
async function openTicket(
  { tickets }: Pick<StartParts, 'tickets'>,
  { cookie }: BrowserRequest,
  ticketHash: string,
): Promise<Ticket> {
  const ticket = await tickets.read(ticketHash);
  if (!ticket) throw new PageError('link-used-up');
  if (ticket.status === 'new') return ticket;
  const cookieHash = cookie === undefined ? undefined : sha256Hex(cookie);
  const isOwn = cookieHash !== undefined && (ticket.browser === cookieHash || ticket.startedFrom === cookieHash);
  if (ticket.status !== 'started' || !isOwn) throw new PageError('link-used-up');
  return ticket;
}

async function showsCode(
  { rules, tickets }: Pick<StartParts, 'rules' | 'tickets'>,
  { cookie }: BrowserRequest,
  ticketHash: string,
): Promise<boolean> {
  if (cookie === undefined || !rules.proof.includes('typed-code')) return false;
  const ticket = await tickets.read(ticketHash);
  return ticket?.status === 'awaiting_code' && ticket.browser === sha256Hex(cookie);
}

/** @throws PageError link-used-up for what cannot be a ticket */
function ticketHashOf(linkTicket: string): string {
  if (!TICKET.test(linkTicket)) throw new PageError('link-used-up');
  return sha256Hex(linkTicket);
}
