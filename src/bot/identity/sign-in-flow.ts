import { randomToken, sha256Hex } from '../../shared/crypto/ids.ts';
import { localize } from '../../shared/text/texts.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import { PlatformError } from '../platforms/platform-error.ts';
import type { Platform } from '../platforms/platform.ts';
import type { ChatPerson } from './account.ts';
import { createAuthorizations } from './browser/authorization-request.ts';
import { createFindSignIn, requireCookie } from './browser/find-sign-in.ts';
import { createForms } from './browser/forms.ts';
import { createPersonProof } from './browser/person-proof.ts';
import { MAX_QUERY_CHARS } from './browser/request-guards.ts';
import type { BrowserRequest, PageOutcome, Step, StepOf } from './browser/step.ts';
import { createTakeTransaction, type SignInCallback } from './browser/take-transaction.ts';
import type { IdentityParts } from './create-parts.ts';
import { EXACT_ID, isSamePerson } from './id-matching.ts';
import { isIdentityError } from './identity-error.ts';
import type { Invitation } from './invitations/invitations.ts';
import { createTransactions } from './invitations/transactions.ts';
import type { CommitResult } from './links/commit-link.ts';
import { createMakeLink } from './links/make-link.ts';
import { isAnswered, type WaitsFor } from './links/waiting.ts';
import type { Profile } from './oauth/profile-response.ts';
import { proofsFor, type IdentityOptions } from './options.ts';
import { cancelledPage, donePage, returnedPage, signedOutPage } from './pages/closing-pages.ts';
import { leavingPage } from './pages/leaving-page.ts';
import { confirmPage } from './pages/confirm-page.ts';
import { landingPage, openInAppPage } from './pages/landing-page.ts';
import { PageError } from './pages/page-error.ts';
import type { Redeemed } from './providers/provider.ts';
import { createAwaitTyped, type AwaitTyped } from './typed-code/await-typed.ts';
import { createCodeSteps } from './typed-code/show-code.ts';

/** Every request that a browser can make during a sign-in, in order. */
export interface SignInSteps {
  /** GET of the link: shows which account would be connected. Changes nothing (SECURITY.md opening-changes-nothing). */
  showLanding: StepOf<string>;
  /** POST of the landing page's button (SECURITY.md same-origin-forms). */
  startSignIn: StepOf<string>;
  /**
   * POST of "try again" on the pages service-failed and chat-app-failed. The form contains the invitation's hash, which only
   * the bound browser can use.
   */
  startAgain: Step;
  /**
   * GET of the platform's callback, proof same-browser (SECURITY.md chat-proof-first): the chat account of this browser must
   * be the invited one. Only then is the browser redirected to the sign-in service.
   * @throws PageError link-used-up, sign-in-broken-off, other-chat-account, other-organisation, chat-app-failed,
   * service-failed
   */
  returnFromPlatform: StepOf<PlatformName>;
  /**
   * GET of the sign-in service's callback: exchanges the code immediately, reads the profile, verifies the proof, stores the
   * pending sign-in, and redirects to an address without the code (SECURITY.md transaction-taken-once, same-id). The code
   * expires after 10 s, so nothing here waits.
   * @throws PageError link-used-up, sign-in-broken-off, other-chat-account, service-failed, account-refused
   */
  returnFromService: Step;
  /**
   * GET: asks the user to confirm the two accounts, or shows the result if they are already linked (SECURITY.md
   * confirmed-by-name).
   */
  showConfirm: Step;
  /**
   * POST: creates the link in one step (SECURITY.md linked-in-one-step, link-is-told), or with the proof typed-code shows
   * the code to type in the chat.
   * @throws PageError link-used-up, sign-in-broken-off, page-expired, linked-elsewhere
   */
  confirmSignIn: Step;
  /** POST of the cancel button: discards the sign-in. @throws PageError sign-in-broken-off, page-expired */
  cancelSignIn: Step;
  /** POST of "new code", with the proof typed-code. */
  showNewCode: Step;
  /** Long request of the page with the code. */
  awaitTyped: AwaitTyped;
}

/** Maximum automatic restarts after a failed code exchange (SECURITY.md code-used-once). */
const MAX_RESTARTS = 1;
const INVITATION_TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** The steps from an opened invitation to a stored link. */
export function createSignInFlow(options: IdentityOptions, parts: IdentityParts, publicOrigin: string): SignInSteps {
  const flow = collaboratorsOf(options, parts, publicOrigin);
  return {
    showLanding: (request, linkTicket) => showLanding(flow, request, linkTicket),
    startSignIn: async (request, linkTicket) => begin(flow, request, invitationHashOf(linkTicket)),
    async startAgain(request) {
      const ticketHash = request.form['ticket'];
      if (typeof ticketHash !== 'string' || !/^[0-9a-f]{64}$/.test(ticketHash)) throw new PageError('page-expired');
      return begin(flow, request, ticketHash);
    },
    returnFromPlatform: (request, name) => returnFromPlatform(flow, request, name),
    returnFromService: (request) => returnFromService(flow, request),
    showConfirm: (request) => showConfirm(flow, request),
    confirmSignIn: (request) => confirmSignIn(flow, request),
    cancelSignIn: (request) => cancelSignIn(flow, request),
    showNewCode: (request) => flow.codeSteps.showNewCode(request),
    awaitTyped: createAwaitTyped(flow),
  };
}

/** The components that the steps call. */
function collaboratorsOf(
  { keyRing, nowMs, log, pages, signIn }: IdentityOptions,
  parts: IdentityParts,
  publicOrigin: string,
) {
  const { invitations, pendingSignIns, dialect, apps, audit, tell, release, waitsFor } = parts;
  const {
    rules,
    service: { state },
  } = signIn;
  const { providerName } = pages;
  const forms = createForms(keyRing, publicOrigin);
  const transactions = createTransactions(parts.store, nowMs);
  const findSignIn = createFindSignIn({ pendingSignIns, invitations, keyRing });
  const service = { state, returns: dialect.returns };
  return {
    ...{ invitations, pendingSignIns, dialect, apps, audit, waitsFor, rules, providerName, nowMs, log },
    ...{ forms, transactions, findSignIn },
    authorizations: createAuthorizations({ publicOrigin, dialect, invitations, keyRing, nowMs, log }),
    personProof: createPersonProof({ invitations, audit, tell, log }),
    takeTransaction: createTakeTransaction({ service, transactions, invitations, forms, apps, audit }),
    codeSteps: createCodeSteps({ codes: parts.codes, findSignIn, forms, providerName, waitsFor, nowMs }),
    makeLink: createMakeLink({ commit: parts.commit, audit, tell, release, nowMs }),
  };
}

type Flow = ReturnType<typeof collaboratorsOf>;

async function showLanding(flow: Flow, request: BrowserRequest, linkTicket: string): Promise<PageOutcome> {
  const ticketHash = invitationHashOf(linkTicket);
  // A user who went to the chat to type the code may reopen the link to read it again.
  if (await showsCode(flow, request, ticketHash)) return { kind: 'redirect', location: '/sign-in/confirm' };
  const invitation = await requireOpenInvitation(flow, request, ticketHash);
  const platform = flow.apps.platformOf(invitation.person);
  if (!platform) throw new PageError('link-used-up');
  const cookie = request.cookie ?? randomToken();
  if (belongsInApp(flow, request, platform)) return openInApp(flow, request, invitation);
  const proofs = proofsFor(flow.rules, invitation.person.platform);
  const page = landingPage({
    language: request.language,
    person: invitation.person,
    providerName: localize(flow.providerName, request.language),
    action: `/link/${linkTicket}/start`,
    csrf: flow.forms.token(cookie, invitation.hash),
    asksApp: proofs.includes('same-browser') && platform.webSignIn?.needsAppBrowser === false,
    endsWithCode: proofs.includes('typed-code'),
    isAwaited: isAnswered(await flow.waitsFor(invitation.person)),
  });
  return { kind: 'page', page, cookie };
}

/** Whether the next step would fail in this browser and use up the link (SECURITY.md chat-proof-first). */
function belongsInApp({ rules }: Flow, { userAgent }: BrowserRequest, platform: Platform): boolean {
  const needsApp =
    proofsFor(rules, platform.name).includes('same-browser') && platform.webSignIn?.needsAppBrowser === true;
  return needsApp && !platform.isAppBrowser(userAgent);
}

function openInApp(
  { apps, providerName }: Flow,
  { language, userAgent }: BrowserRequest,
  { person }: Invitation,
): PageOutcome {
  const back = apps.backTo(userAgent, person);
  return {
    kind: 'page',
    back,
    page: openInAppPage({ language, person, providerName: localize(providerName, language), back }),
  };
}

async function begin(flow: Flow, request: BrowserRequest, ticketHash: string): Promise<PageOutcome> {
  const { forms, apps, rules, authorizations } = flow;
  const shownCookie = forms.requireOwnForm(request, ticketHash);
  const invitation = await requireOpenInvitation(flow, request, ticketHash);
  const platform = apps.platformOf(invitation.person);
  if (!platform) throw new PageError('link-used-up');
  if (belongsInApp(flow, request, platform)) return openInApp(flow, request, invitation);
  // A new value, so that a cookie planted before the start is worthless.
  const cookie = randomToken();
  const cookieHash = sha256Hex(cookie);
  // If the service is unavailable, the browser still has the cookie from before the start.
  const again = { ticketHash, csrf: forms.token(shownCookie, ticketHash) };
  const { location, transaction } = proofsFor(rules, platform.name).includes('same-browser')
    ? await authorizations.toPlatform(platform, { ticketHash, cookieHash, again })
    : await authorizations.toService({ ticketHash, cookieHash, isChatProven: false, restarts: 0, again });
  const shownCookieHash = sha256Hex(shownCookie);
  await authorizations.begin({ ticketHash, shownCookieHash, cookieHash, transaction });
  flow.audit('link-started', invitation.person);
  return { kind: 'page', page: leavingPage({ language: request.language, to: location }), cookie };
}

/**
 * Returns an invitation that this browser may use: new, or started by it. All other cases show the same page, so that it
 * reveals nothing (link-used-up).
 */
async function requireOpenInvitation(
  { invitations }: Flow,
  { cookie }: BrowserRequest,
  ticketHash: string,
): Promise<Invitation> {
  const invitation = await invitations.read(ticketHash);
  if (!invitation) throw new PageError('link-used-up');
  if (invitation.status === 'new') return invitation;
  const cookieHash = cookie === undefined ? undefined : sha256Hex(cookie);
  const isOwn =
    cookieHash !== undefined && (invitation.browser === cookieHash || invitation.startedFrom === cookieHash);
  if (invitation.status !== 'started' || !isOwn) throw new PageError('link-used-up');
  return invitation;
}

async function showsCode(
  { rules, invitations }: Flow,
  { cookie }: BrowserRequest,
  ticketHash: string,
): Promise<boolean> {
  if (cookie === undefined || !rules.proof.includes('typed-code')) return false;
  const invitation = await invitations.read(ticketHash);
  return invitation?.status === 'awaiting_code' && invitation.browser === sha256Hex(cookie);
}

/** @throws PageError link-used-up for an impossible value */
function invitationHashOf(linkTicket: string): string {
  if (!INVITATION_TOKEN.test(linkTicket)) throw new PageError('link-used-up');
  return sha256Hex(linkTicket);
}

async function returnFromPlatform(
  { takeTransaction, apps, personProof, authorizations }: Flow,
  request: BrowserRequest,
  name: PlatformName,
): Promise<PageOutcome> {
  const returned = await takeTransaction(request, `platform/${name}`);
  if ('declined' in returned) return returned.declined;
  const { invitation, cookieHash } = returned;
  const platform = apps.platformOf(invitation.person);
  if (!platform?.webSignIn || platform.name !== name) throw new PageError('sign-in-broken-off');
  const asked = authorizations.identify(returned, platform.webSignIn).catch(outsideOrFailed);
  const present = await personProof.orTryAgain(returned, asked);
  if (present === 'outside') throw await personProof.refuseOther(returned, 'other-chat-account', 'other-organisation');
  const plainUserId = await personProof.plainIdOf(returned, platform);
  if (present.userId !== plainUserId || present.tenant !== invitation.person.tenant) {
    throw await personProof.refuseOther(returned, 'other-chat-account');
  }
  const leg = { ticketHash: invitation.hash, cookieHash, isChatProven: true, restarts: 0, again: returned.again };
  const { location, transaction } = await authorizations.toService(leg);
  await authorizations.begin({ ticketHash: invitation.hash, shownCookieHash: cookieHash, cookieHash, transaction });
  return { kind: 'redirect', location, isCallback: true };
}

/** A user from outside the organisation is a stranger, not a failure. */
function outsideOrFailed(thrown: unknown): 'outside' {
  if (thrown instanceof PlatformError && thrown.code === 'not_a_member') return 'outside';
  throw thrown;
}

async function returnFromService(flow: Flow, request: BrowserRequest): Promise<PageOutcome> {
  const { takeTransaction, rules, pendingSignIns, nowMs } = flow;
  const empty = await readEmptyReturn(flow, request);
  if (empty) return empty;
  const returned = await takeTransaction(request, 'service');
  if ('declined' in returned) return returned.declined;
  const { transaction, invitation, cookieHash } = returned;
  const proofs = proofsFor(rules, invitation.person.platform);
  if (proofs.includes('same-browser') && !transaction.isChatProven) throw new PageError('sign-in-broken-off');
  const obtainedAtMs = nowMs();
  const redeemed = await exchange(flow, returned);
  if (redeemed === 'restart') return restart(flow, returned);
  const profile = await usableProfile(flow, returned, redeemed);
  if (proofs.includes('same-id')) await proveSameId(flow, returned, profile);
  const { tokens, lifeMs } = redeemed;
  await pendingSignIns.keep(cookieHash, invitation, { profile, tokens, lifeMs, obtainedAtMs });
  return { kind: 'redirect', location: '/sign-in/confirm', isCallback: true };
}

/**
 * Handles callbacks without a sign-in. After signing out at the service (`/unlink` links to it), users return to the
 * registered address: at once, or after signing in there again. If this browser has a sign-in in progress, a callback
 * without parameters is not such a return.
 * @returns the page to show; undefined for every other callback
 * @throws IdentityError `store_away`
 */
async function readEmptyReturn(
  { dialect, transactions, apps, providerName }: Flow,
  { querystring, cookie, language, userAgent }: BrowserRequest,
): Promise<PageOutcome | undefined> {
  if (!isEmpty(dialect, querystring)) return undefined;
  if (cookie !== undefined && (await transactions.peek(sha256Hex(cookie)))) return undefined;
  const back = apps.backTo(userAgent);
  const page = dialect.returnsOnlySignedOut
    ? signedOutPage({ language, back })
    : returnedPage({ language, back, providerName });
  return { kind: 'page', back, page };
}

/** Parameters that a service adds to every address, such as a language, are ignored. */
function isEmpty({ returns }: Flow['dialect'], querystring: string): boolean {
  if (querystring.length > MAX_QUERY_CHARS) return false;
  const query = new URLSearchParams(querystring);
  return [returns.name, 'state', 'error'].every((name) => !query.has(name));
}

/**
 * One exchange, never retried with the same code. An unusable response leads to one restart, no response to service-failed.
 */
async function exchange({ authorizations, log }: Flow, returned: SignInCallback): Promise<Redeemed | 'restart'> {
  try {
    return await authorizations.redeem(returned);
  } catch (error) {
    if (isIdentityError(error, 'service_refused') && returned.transaction.restarts < MAX_RESTARTS) {
      log.warn({ error }, 'a code exchange failed; the sign-in starts again');
      return 'restart';
    }
    throw authorizations.failure(error, returned.again);
  }
}

async function restart(
  { authorizations }: Flow,
  { invitation, cookieHash, transaction: { isChatProven, restarts }, again }: SignInCallback,
): Promise<PageOutcome> {
  const leg = { ticketHash: invitation.hash, cookieHash, isChatProven, restarts: restarts + 1, again };
  const { location, transaction } = await authorizations.toService(leg);
  await authorizations.begin({ ticketHash: invitation.hash, shownCookieHash: cookieHash, cookieHash, transaction });
  return { kind: 'redirect', location, isCallback: true };
}

async function usableProfile(
  { authorizations, audit, log }: Flow,
  { invitation, again }: SignInCallback,
  redeemed: Redeemed,
): Promise<Profile> {
  try {
    return await redeemed.profile();
  } catch (error) {
    if (!isIdentityError(error, 'profile_broken', 'profile_unfit')) throw authorizations.failure(error, again);
    log.warn({ error }, 'a profile was refused');
    audit('link-refused', invitation.person, 'profile');
    throw new PageError('account-refused');
  }
}

/** Verifies the proof same-id before anything is stored, so that a stranger's tokens are never kept. */
async function proveSameId(
  { apps, personProof, rules }: Flow,
  returned: SignInCallback,
  profile: Profile,
): Promise<void> {
  const platform = apps.platformOf(returned.invitation.person);
  if (!platform) throw new PageError('link-used-up');
  const plainUserId = await personProof.plainIdOf(returned, platform);
  const isSame = isSamePerson(rules.sameIdRule ?? EXACT_ID, profile, plainUserId);
  if (!isSame) throw await personProof.refuseOther(returned, 'other-account');
}

async function showConfirm(flow: Flow, request: BrowserRequest): Promise<PageOutcome> {
  const found = await flow.findSignIn(request.cookie);
  if (found.kind === 'done') return done(flow, request, found);
  const { invitation, signedIn, cookie } = found;
  if (invitation.status === 'awaiting_code') return flow.codeSteps.showCodeAgain(request, found);
  const page = confirmPage({
    language: request.language,
    person: invitation.person,
    profile: signedIn.profile,
    providerName: localize(flow.providerName, request.language),
    csrf: flow.forms.token(cookie, invitation.hash),
    endsWithCode: proofsFor(flow.rules, invitation.person.platform).includes('typed-code'),
    isAwaited: isAnswered(await flow.waitsFor(invitation.person)),
  });
  return { kind: 'page', page };
}

async function confirmSignIn(flow: Flow, request: BrowserRequest): Promise<PageOutcome> {
  const { findSignIn, forms, rules, codeSteps, makeLink } = flow;
  const found = await findSignIn(requireCookie(request));
  forms.requireOwnForm(request, found.kind === 'done' ? found.ticketHash : found.invitation.hash);
  if (found.kind === 'done') return done(flow, request, found);
  if (proofsFor(rules, found.invitation.person.platform).includes('typed-code'))
    return codeSteps.awaitCode(request, found);
  const committed = await makeLink(found);
  const { name } = found.signedIn.profile;
  const { person } = found.invitation;
  if (committed.kind === 'linked') return done(flow, request, { name, waitsFor: committed.waitsFor }, person);
  if (committed.kind !== 'linked-before') throw conflict(committed);
  // The other request of a double click created the link, notified the user and stored what was waiting.
  const before = await findSignIn(found.cookie);
  return done(flow, request, before.kind === 'done' ? before : { name, waitsFor: 'nothing' }, person);
}

async function cancelSignIn(flow: Flow, request: BrowserRequest): Promise<PageOutcome> {
  const { findSignIn, forms, invitations, audit, apps } = flow;
  const found = await findSignIn(requireCookie(request));
  forms.requireOwnForm(request, found.kind === 'done' ? found.ticketHash : found.invitation.hash);
  if (found.kind === 'done') return done(flow, request, found);
  await invitations.close(found.invitation, 'refused', found.cookieHash);
  audit('link-cancelled', found.invitation.person);
  const { language, userAgent } = request;
  const back = apps.backTo(userAgent, found.invitation.person);
  return { kind: 'page', back, page: cancelledPage({ language, back }) };
}

type Conflict = Exclude<CommitResult, { kind: 'linked' | 'linked-before' }>;

function conflict(committed: Conflict): PageError {
  if (committed.kind === 'gone') return new PageError('link-used-up');
  return new PageError(committed.kind === 'already-linked' ? 'chat-linked-elsewhere' : 'linked-elsewhere');
}

function done(
  { apps }: Flow,
  { language, userAgent }: BrowserRequest,
  { name, waitsFor }: { name: string; waitsFor: WaitsFor },
  person?: ChatPerson,
): PageOutcome {
  const back = apps.backTo(userAgent, person);
  return { kind: 'page', back, page: donePage({ language, back, name, waitsFor }) };
}
