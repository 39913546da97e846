import type Router from '@koa/router';
import { asError } from '../base/coded-error.ts';
import { inBackground } from '../base/in-background.ts';
import type { ChatPerson, IdentityNotice, PersonOwner, Release } from './account.ts';
import type { Account } from '../domain/account.ts';
import { createAccessTokens } from './tokens/access-token.ts';
import { createAudit } from './audit.ts';
import { bringBack } from './links/bring-back.ts';
import { createCommit } from './links/commit-link.ts';
import { createFailureLimit } from './failure-limit.ts';
import type { SignInFlow } from './browser/flow.ts';
import { serviceRedirectUri } from './browser/authorization-request.ts';
import { createLinks } from './links/links.ts';
import { nameTicket } from './tickets/name-ticket.ts';
import type { Platform } from '../platforms/platform.ts';
import { createDialect } from './dialects/create-dialect.ts';
import { proofsFor, refuseUnsafe, type IdentityOptions } from './options.ts';
import { createPendingSignIns } from './tickets/pending-sign-ins.ts';
import { recheckDue, type RecheckParts } from './tokens/recheck.ts';
import { RecentChanges, type RecentChange } from './links/recent-changes.ts';
import { createReleases } from './links/releases.ts';
import { createRoutes } from './browser/routes.ts';
import { createStore } from './store.ts';
import { sweepKeys } from './links/sweep-keys.ts';
import { createTickets, type NotAsked, type SignInRequest } from './tickets/tickets.ts';
import { createTransactions } from './tickets/transactions.ts';
import { redeemTypedCode, type TypedMessage, type TypedOutcome } from './typed-code/redeem-code.ts';
import { createTypedCodes } from './typed-code/typed-codes.ts';
import { createVault } from './tokens/vault.ts';
import { createWaitsFor } from './links/waiting.ts';

const CSRF_PURPOSE = 'sign-in-csrf';

/** What became of asking a person to sign in. */
export type SignInInvitation =
  | { kind: 'invited'; url: string; expiresAtMs: number }
  /** An invitation is still of use: its link once more; without one where none was to be minted. */
  | { kind: 'waiting'; url?: string; expiresAtMs: number }
  | NotAsked;

/**
 * Who a chat person is at the institution. All methods that reach Redis: @throws IdentityError `store_away`.
 * This room never writes into a chat; it calls `notify` and `onLinked`.
 */
export interface Identity {
  /** One read in Redis; undefined when nobody is linked, or the record does not open (then the person signs in again). */
  accountOf(owner: PersonOwner, chatUserId: string): Promise<Account | undefined>;
  /**
   * Mints a link for the private chat, unless one lives or the person is linked by now (SECURITY.md private-invitation). The link must
   * not be shown in a group. Before a message is held it must be asked for, in this order: then a link that is made
   * meanwhile either is found here, or releases the message's conversation.
   */
  askToSignIn(request: SignInRequest): Promise<SignInInvitation>;
  /**
   * Takes a typed sign-in code out of the chat (SECURITY.md typed-code), where that is the proof. Safe to repeat with the
   * same message. @returns undefined when the message holds no code; else it must go no further: not to the model, the
   * history or the messages that are held
   */
  takeTypedCode(message: TypedMessage): Promise<TypedOutcome | undefined>;
  /**
   * Forgets the link, its reverse index and tokens (SECURITY.md unlink-ends-all). Signing out at the service is the person's own step.
   * `logoutUrl` is undefined where the service has no such page, or could not be asked for it.
   * @param messageId of the message that asks for it; handled again, it is told the same and undoes nothing more
   */
  unlink(
    owner: PersonOwner,
    chatUserId: string,
    messageId: string,
  ): Promise<{ wasLinked: boolean; logoutUrl: string | undefined }>;
  /** Releases that were not reported as done, oldest first. */
  pendingReleases(limit: number): Promise<Release[]>;
  releaseDone(releaseId: string): Promise<void>;
  /** The release is still needed: it is given by `pendingReleases` again, behind the others, for as long as it lives. */
  releaseAgain(releaseId: string): Promise<void>;
  /** @param rejected a token that the service has just refused. @throws IdentityError `refresh_later`, `sign_in_again` */
  freshAccessToken(owner: PersonOwner, chatUserId: string, rejected?: string): Promise<string>;
  /** Looks at people whose daily re-check is due. @returns how many; `limit` means that more may be due */
  recheckDue(limit: number): Promise<number>;
  /** While there is an older key: seals links with the newest and reports what each key is needed for, now and then. */
  sweepKeys(): Promise<void>;
  /** The links that this process has made and undone lately, the oldest first. */
  recall(): RecentChange[];
  /** Makes and undoes again what a failover has lost of them; what people did later counts. Safe to repeat. */
  bringBack(changes: RecentChange[]): Promise<void>;
  /** The pages; one router, mounted at the root. */
  routes(): Router;
}

/** @throws IdentityError `options_unsafe` */
export function createIdentity(options: IdentityOptions): Identity {
  refuseUnsafe(options);
  const parts = createParts(options);
  const { links, tickets, releases, accessTokens, dialect, audit, flow } = parts;
  return {
    accountOf: ({ platform, tenant, app }, chatUserId) => links.accountOf({ platform, tenant, app, chatUserId }),
    async askToSignIn(request) {
      const asked = await tickets.ask(request);
      if (asked.kind !== 'invited' && asked.kind !== 'waiting') return asked;
      const { kind, ticket, expiresAtMs } = asked;
      const url = `${flow.publicOrigin}/link/${ticket ?? ''}`;
      if (kind === 'waiting') return { kind, expiresAtMs, url: ticket === undefined ? undefined : url };
      audit('link-asked', request);
      inBackground(() => nameTicket({ ...flow, log: options.log }, request, ticket));
      return { kind, url, expiresAtMs };
    },
    async takeTypedCode(message) {
      return proofsFor(options.signIn, message.owner.platform).includes('typed-code')
        ? redeemTypedCode(flow, message)
        : undefined;
    },
    async unlink({ platform, tenant, app }, chatUserId, messageId) {
      const person = { platform, tenant, app, chatUserId };
      const wasLinked = await links.remove(person, messageId);
      if (wasLinked) audit('unlinked', person);
      return { wasLinked, logoutUrl: await dialect.logoutUrl(serviceRedirectUri(flow.publicOrigin)) };
    },
    pendingReleases: (limit) => releases.pending(limit),
    releaseDone: (releaseId) => releases.done(releaseId),
    releaseAgain: (releaseId) => releases.again(releaseId),
    freshAccessToken: ({ platform, tenant, app }, chatUserId, rejected) =>
      accessTokens.fresh({ platform, tenant, app, chatUserId }, rejected),
    recheckDue: (limit) => recheckDue(parts, limit),
    async sweepKeys() {
      const counts = await sweepKeys(parts);
      if (counts) options.report.sealedRecords(counts);
    },
    recall: () => parts.changes.all(),
    bringBack: (changes) => bringBack({ ...parts, tell: flow.tell, release: flow.release }, changes),
    routes: () => createRoutes(routeOptions(options, parts)),
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(options: IdentityOptions) {
  const { redis, keyRing, signIn, changes = new RecentChanges(), nowMs, log, report } = options;
  const store = createStore(redis);
  const audit = createAudit(log, keyRing, report);
  const base = { store, keyRing, vault: createVault(keyRing), audit, changes, nowMs };
  const links = createLinks(base);
  const tickets = createTickets(store, keyRing, nowMs);
  const { allowedIdentityCodes } = signIn;
  const profileRules = { clientId: signIn.clientId, allowedIdentityCodes };
  const dialect = createDialect(signIn, profileRules);
  const tell = background(options, 'a notice was not delivered', options.notify);
  const shared = { ...base, links, tickets, dialect, signIn, log, tell };
  const accessTokens = createAccessTokens(shared);
  const waitsFor = createWaitsFor(store, { lookForHeld: options.lookForHeld, log });
  const flow: SignInFlow = {
    ...shared,
    providerName: options.providerName,
    publicOrigin: new URL(options.publicUrl).origin,
    csrfKey: keyRing.deriveKey(CSRF_PURPOSE),
    csrfKeys: keyRing.deriveKeys(CSRF_PURPOSE),
    transactions: createTransactions(store, nowMs),
    pendingSignIns: createPendingSignIns(store, nowMs),
    ...createCommit({ ...base, waitsFor }, links, signIn.keepTokens),
    waitsFor,
    backTo: (userAgent, owner) => platformToGoBackTo(options, userAgent, owner)?.backToChat(userAgent),
    codes: createTypedCodes(store, keyRing, nowMs),
    linkedAs: (person) => links.accountOf(person),
    platformOf: ({ platform, tenant, app }) => {
      const found = options.platforms.get(platform);
      return found?.tenant === tenant && found.app === app ? found : undefined;
    },
    release: background(options, 'a release was not taken at once', options.onLinked),
  };
  const recheck: RecheckParts = { ...shared, accessTokens };
  return { ...recheck, tickets, flow, releases: createReleases(store, nowMs) };
}

/** The person's own, else the one whose browser this is, else the only one. */
function platformToGoBackTo(
  { platforms }: IdentityOptions,
  userAgent: string,
  owner?: PersonOwner,
): Platform | undefined {
  if (owner) return platforms.get(owner.platform);
  const all = [...platforms.values()];
  return all.find((platform) => platform.isAppBrowser(userAgent)) ?? (all.length === 1 ? all[0] : undefined);
}

/** Calls a function of the composition root without waiting for it; a page must not hang on a messaging platform. */
function background<Args extends unknown[]>(
  { log }: IdentityOptions,
  failure: string,
  call: (...args: Args) => Promise<void> | void,
) {
  return (...args: Args): void => {
    void (async () => call(...args))().catch((thrown: unknown) => log.warn({ error: asError(thrown) }, failure));
  };
}

function routeOptions(options: IdentityOptions, { flow, store }: Parts) {
  const platforms = [...options.platforms.values()];
  const platformOrigins = platforms.flatMap((platform) => platform.webSignIn?.origins ?? []);
  return {
    flow,
    failures: createFailureLimit(store, options.keyRing, options.nowMs),
    platformNames: platforms.map((platform) => platform.name),
    formOrigins: () => [...flow.dialect.origins(), ...platformOrigins],
    trustedProxyHops: options.trustedProxyHops ?? 0,
    helpUrl: options.helpUrl,
  };
}

export type { Account, ChatPerson, IdentityNotice, IdentityOptions, PersonOwner, Release, SignInRequest, TypedOutcome };
