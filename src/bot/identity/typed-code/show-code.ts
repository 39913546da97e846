import { MINUTE_MS, type NowMs } from '../../../shared/clock.ts';
import { localize, type Bilingual } from '../../../shared/text/texts.ts';
import { requireCookie, type FindSignIn, type WaitingSignIn } from '../browser/find-sign-in.ts';
import type { Forms } from '../browser/forms.ts';
import type { BrowserRequest, PageOutcome, Step, StepOf } from '../browser/step.ts';
import { isAnswered, type FindWaiting } from '../links/waiting.ts';
import { codePage } from '../pages/code-page.ts';
import { PageError } from '../pages/page-error.ts';
import { MAX_CODES_PER_INVITATION, type TypedCodes } from './typed-codes.ts';

export interface ShowCodeParts {
  codes: Pick<TypedCodes, 'show' | 'codeOf'>;
  findSignIn: FindSignIn;
  forms: Forms;
  providerName: Bilingual;
  waitsFor: FindWaiting;
  nowMs: NowMs;
}

/** The steps of a sign-in that ends with a typed code (SECURITY.md typed-code). */
export interface CodeSteps {
  /**
   * Shows the first code of a confirmed sign-in and starts waiting for it. Creates no link. A second click shows the same
   * code.
   * @throws PageError link-used-up
   */
  awaitCode: StepOf<WaitingSignIn>;
  /**
   * GET while waiting for the code: shows the same code in the same browser, with a note that it has not been typed yet.
   * @throws PageError link-used-up
   */
  showCodeAgain: StepOf<WaitingSignIn>;
  /**
   * POST of "new code": the previous code becomes invalid. The form names the code to replace, so that a second click does
   * not replace the new code.
   * @throws PageError link-used-up, sign-in-broken-off, page-expired
   */
  showNewCode: Step;
}

export function createCodeSteps(parts: ShowCodeParts): CodeSteps {
  return {
    awaitCode: (request, found) => showSerial(parts, request, { found, serial: found.invitation.code?.serial ?? 1 }),
    showCodeAgain: (request, found) => pageOf(parts, request, found, true),
    async showNewCode(request) {
      const found = await parts.findSignIn(requireCookie(request));
      parts.forms.requireOwnForm(request, found.kind === 'done' ? found.ticketHash : found.invitation.hash);
      const replaced = Number(request.form['serial']);
      if (found.kind === 'done' || found.invitation.code?.serial !== replaced || replaced >= MAX_CODES_PER_INVITATION)
        return { kind: 'redirect', location: '/sign-in/confirm' };
      return showSerial(parts, request, { found, serial: replaced + 1 });
    },
  };
}

interface Showing {
  found: WaitingSignIn;
  serial: number;
}

async function showSerial(
  parts: ShowCodeParts,
  request: BrowserRequest,
  { found, serial }: Showing,
): Promise<PageOutcome> {
  await parts.codes.show({ ...found, serial });
  // The other request of a double click may have been first; both show the same code.
  const now = await parts.findSignIn(found.cookie);
  if (now.kind === 'done') return { kind: 'redirect', location: '/sign-in/confirm' };
  return pageOf(parts, request, now, false);
}

async function pageOf(
  { codes, forms, providerName, waitsFor, nowMs }: ShowCodeParts,
  request: BrowserRequest,
  found: WaitingSignIn,
  isAgain: boolean,
): Promise<PageOutcome> {
  const { invitation, signedIn, cookie, quarantined: pending } = found;
  const code = codes.codeOf(invitation, cookie);
  if (code === undefined || !invitation.code) throw new PageError('link-used-up');
  const { serial } = invitation.code;
  const page = codePage({
    language: request.language,
    person: invitation.person,
    accountName: signedIn.profile.name,
    providerName: localize(providerName, request.language),
    code,
    minutesLeft: Math.max(1, Math.ceil((pending.expiresAtMs - nowMs()) / MINUTE_MS)),
    csrf: forms.token(cookie, invitation.hash),
    isAgain,
    isAwaited: isAnswered(await waitsFor(invitation.person)),
    replaces: serial < MAX_CODES_PER_INVITATION ? serial : undefined,
  });
  return { kind: 'page', page, awaitsCode: true };
}
