import { MINUTE_MS } from '../../base/clock.ts';
import { say } from '../../base/texts.ts';
import { demandCookie, findSignIn, type WaitingSignIn } from '../browser/find-sign-in.ts';
import { demandOwnForm, type BrowserRequest, type PageOutcome, type SignInFlow } from '../browser/flow.ts';
import { codePage } from '../pages/code-page.ts';
import { PageError } from '../pages/page-error.ts';
import { csrfToken } from '../browser/request-guards.ts';
import { isAnswered } from '../links/waiting.ts';
import { MOST_CODES_OF_A_TICKET } from './typed-codes.ts';

/**
 * Shows the first code of a confirmed sign-in and begins to await it; nothing is linked (SECURITY.md typed-code). A
 * second click gets the same code.
 * @throws PageError link-used-up
 */
export async function awaitCode(flow: SignInFlow, request: BrowserRequest, found: WaitingSignIn): Promise<PageOutcome> {
  const { serial = 1 } = found.ticket.code ?? {};
  return showSerial(flow, request, { found, serial });
}

/**
 * POST of "new code": the old one is worth nothing from then on. The form names the code that it replaces, so that a
 * second click does not replace the new one.
 * @throws PageError link-used-up, sign-in-broken-off, page-expired
 */
export async function showNewCode(flow: SignInFlow, request: BrowserRequest): Promise<PageOutcome> {
  const found = await findSignIn(flow, demandCookie(request));
  demandOwnForm(flow, request, found.kind === 'done' ? found.ticketHash : found.ticket.hash);
  const replaced = Number(request.form['serial']);
  if (found.kind === 'done' || found.ticket.code?.serial !== replaced || replaced >= MOST_CODES_OF_A_TICKET)
    return { kind: 'redirect', location: '/sign-in/confirm' };
  return showSerial(flow, request, { found, serial: replaced + 1 });
}

/** GET while the code is awaited: the same code in the same browser, and that it has not been typed yet. @throws PageError link-used-up */
export async function showCodeAgain(
  flow: SignInFlow,
  request: BrowserRequest,
  found: WaitingSignIn,
): Promise<PageOutcome> {
  return pageOf(flow, request, found, true);
}

interface Showing {
  found: WaitingSignIn;
  serial: number;
}

async function showSerial(flow: SignInFlow, request: BrowserRequest, { found, serial }: Showing): Promise<PageOutcome> {
  await flow.codes.show({ ...found, serial });
  // The other half of a double click may have been there first; both see the same.
  const now = await findSignIn(flow, found.cookie);
  if (now.kind === 'done') return { kind: 'redirect', location: '/sign-in/confirm' };
  return pageOf(flow, request, now, false);
}

async function pageOf(
  flow: SignInFlow,
  request: BrowserRequest,
  found: WaitingSignIn,
  isAgain: boolean,
): Promise<PageOutcome> {
  const { ticket, signedIn, cookie, quarantined: pending } = found;
  const code = flow.codes.codeOf(ticket, cookie);
  if (code === undefined || !ticket.code) throw new PageError('link-used-up');
  const { serial } = ticket.code;
  const page = codePage({
    language: request.language,
    person: ticket.person,
    accountName: signedIn.profile.name,
    providerName: say(flow.providerName, request.language),
    code,
    minutesLeft: Math.max(1, Math.ceil((pending.expiresAtMs - flow.nowMs()) / MINUTE_MS)),
    csrf: csrfToken(flow.csrfKey, cookie, ticket.hash),
    isAgain,
    isAwaited: isAnswered(await flow.waitsFor(ticket.person)),
    replaces: serial < MOST_CODES_OF_A_TICKET ? serial : undefined,
  });
  return { kind: 'page', page };
}
