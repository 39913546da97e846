import { randomToken, sha256Hex } from '../../base/ids.ts';
import { say } from '../../base/texts.ts';
import type { Platform } from '../../platforms/platform.ts';
import { demandOwnForm, type BrowserRequest, type PageOutcome, type SignInFlow } from './flow.ts';
import { platformAuthorization, serviceAuthorization, startAuthorization } from './authorization-request.ts';
import { landingPage, openInAppPage } from '../pages/landing-page.ts';
import { proofsFor } from '../options.ts';
import { PageError } from '../pages/page-error.ts';
import { csrfToken } from './request-guards.ts';
import type { Ticket } from '../tickets/tickets.ts';
import { isAnswered } from '../links/waiting.ts';

const TICKET = /^[A-Za-z0-9_-]{43}$/;

/** GET of the link: shows who would be connected, and changes nothing (SECURITY.md opening-changes-nothing). @throws PageError */
export async function showLanding(flow: SignInFlow, request: BrowserRequest, linkTicket: string): Promise<PageOutcome> {
  const ticketHash = ticketHashOf(linkTicket);
  // Who went to the chat to type the code may come back by the link, to read it again.
  if (await showsCode(flow, request, ticketHash)) return { kind: 'redirect', location: '/sign-in/confirm' };
  const ticket = await openTicket(flow, request, ticketHash);
  const platform = flow.platformOf(ticket.person);
  if (!platform) throw new PageError('link-used-up');
  const cookie = request.cookie ?? randomToken();
  if (belongsInApp(flow, request, platform)) return openInApp(flow, request, ticket);
  // The page's form may lead there only if the address is known by then.
  await flow.dialect.prepare();
  const page = landingPage({
    language: request.language,
    person: ticket.person,
    providerName: say(flow.providerName, request.language),
    action: `/link/${linkTicket}/start`,
    csrf: csrfToken(flow.csrfKey, cookie, ticket.hash),
    endsWithCode: proofsFor(flow.signIn, ticket.person.platform).includes('typed-code'),
    isAwaited: isAnswered(await flow.waitsFor(ticket.person)),
  });
  return { kind: 'page', page, cookie };
}

/** POST of the landing page's button (SECURITY.md same-origin-forms). @throws PageError */
export async function startSignIn(flow: SignInFlow, request: BrowserRequest, linkTicket: string): Promise<PageOutcome> {
  return begin(flow, request, ticketHashOf(linkTicket));
}

/** POST of "try again" on page service-failed; the form names the ticket by its hash, of use to the bound browser only. @throws PageError */
export async function startAgain(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  const ticketHash = request.form['ticket'];
  if (typeof ticketHash !== 'string' || !/^[0-9a-f]{64}$/.test(ticketHash)) throw new PageError('page-expired');
  return begin(flow, request, ticketHash);
}

/** Whether the next step would fail in this browser, and use the link up (SECURITY.md chat-proof-first). */
function belongsInApp({ signIn }: SignInFlow, { userAgent }: BrowserRequest, platform: Platform): boolean {
  const needsApp =
    proofsFor(signIn, platform.name).includes('same-browser') && platform.webSignIn?.needsAppBrowser === true;
  return needsApp && !platform.isAppBrowser(userAgent);
}

function openInApp(flow: SignInFlow, { language, userAgent }: BrowserRequest, { person }: Ticket): PageOutcome {
  const back = flow.backTo(userAgent, person);
  return {
    kind: 'page',
    back,
    page: openInAppPage({ language, person, providerName: say(flow.providerName, language), back }),
  };
}

async function begin(flow: SignInFlow, request: BrowserRequest, ticketHash: string): Promise<PageOutcome> {
  const shownCookie = demandOwnForm(flow, request, ticketHash);
  const ticket = await openTicket(flow, request, ticketHash);
  const platform = flow.platformOf(ticket.person);
  if (!platform) throw new PageError('link-used-up');
  if (belongsInApp(flow, request, platform)) return openInApp(flow, request, ticket);
  // A new value from here on, so that a cookie known to anybody from before the start is worth nothing (step 9).
  const cookie = randomToken();
  const cookieHash = sha256Hex(cookie);
  // Should the service be away, the browser still has the cookie that it was shown the page with.
  const again = { ticketHash, csrf: csrfToken(flow.csrfKey, shownCookie, ticketHash) };
  const { location, transaction } = proofsFor(flow.signIn, platform.name).includes('same-browser')
    ? platformAuthorization(flow, platform, ticketHash)
    : await serviceAuthorization(flow, { ticketHash, cookieHash, isChatProven: false, restarts: 0, again });
  const shownCookieHash = sha256Hex(shownCookie);
  await startAuthorization(flow, { ticketHash, shownCookieHash, cookieHash, transaction });
  flow.audit('link-started', ticket.person);
  return { kind: 'redirect', location, cookie };
}

/** A ticket that this browser may use: new, or started by itself. One page for all else, so that it tells nothing (link-used-up). */
async function openTicket(flow: SignInFlow, { cookie }: BrowserRequest, ticketHash: string): Promise<Ticket> {
  const ticket = await flow.tickets.read(ticketHash);
  if (!ticket) throw new PageError('link-used-up');
  if (ticket.status === 'new') return ticket;
  const cookieHash = cookie === undefined ? undefined : sha256Hex(cookie);
  const isOwn = cookieHash !== undefined && (ticket.browser === cookieHash || ticket.startedFrom === cookieHash);
  if (ticket.status !== 'started' || !isOwn) throw new PageError('link-used-up');
  return ticket;
}

async function showsCode(flow: SignInFlow, { cookie }: BrowserRequest, ticketHash: string): Promise<boolean> {
  if (cookie === undefined || !flow.signIn.proof.includes('typed-code')) return false;
  const ticket = await flow.tickets.read(ticketHash);
  return ticket?.status === 'awaiting_code' && ticket.browser === sha256Hex(cookie);
}

/** @throws PageError link-used-up for what cannot be a ticket */
function ticketHashOf(linkTicket: string): string {
  if (!TICKET.test(linkTicket)) throw new PageError('link-used-up');
  return sha256Hex(linkTicket);
}
