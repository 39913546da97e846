import type Router from '@koa/router';
import { inBackground } from '../../shared/in-background.ts';
import type { ChatPerson, IdentityNotice, PersonOwner, Release } from './account.ts';
import type { Account } from '../domain/account.ts';
import { bringBack } from './links/bring-back.ts';
import { serviceRedirectUri } from './browser/authorization-request.ts';
import { nameTicket } from './invitations/name-invitation.ts';
import { proofsFor, refuseUnsafe, type IdentityOptions } from './options.ts';
import { recheckDue } from './tokens/recheck.ts';
import type { RecentChange } from './links/recent-changes.ts';
import { createPages } from './create-pages.ts';
import { createParts } from './create-parts.ts';
import { sweepKeys } from './links/sweep-keys.ts';
import type { NotAsked, SignInRequest } from './invitations/invitations.ts';
import { redeemTypedCode, type TypedMessage, type TypedOutcome } from './typed-code/redeem-code.ts';

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
  const { keyRing, nowMs, log, report } = options;
  const { rules } = options.signIn;
  refuseUnsafe(rules, options.platforms);
  const parts = createParts(options);
  const { store, links, tickets, releases, dialect, accessTokens, vault, audit, tell, release } = parts;
  const publicOrigin = new URL(options.pages.publicUrl).origin;
  return {
    accountOf: ({ platform, tenant, app }, chatUserId) => links.accountOf({ platform, tenant, app, chatUserId }),
    async askToSignIn(request) {
      const asked = await tickets.ask(request);
      if (asked.kind !== 'invited' && asked.kind !== 'waiting') return asked;
      const { kind, ticket, expiresAtMs } = asked;
      const url = `${publicOrigin}/link/${ticket ?? ''}`;
      if (kind === 'waiting') return { kind, expiresAtMs, url: ticket === undefined ? undefined : url };
      audit('link-asked', request);
      inBackground(() => nameTicket({ tickets, apps: parts.apps, log }, request, ticket));
      return { kind, url, expiresAtMs };
    },
    async takeTypedCode(message) {
      if (!proofsFor(rules, message.owner.platform).includes('typed-code')) return undefined;
      const { codes, pendingSignIns, commitTyped } = parts;
      const ends = { audit, tell, release };
      return redeemTypedCode({ codes, tickets, pendingSignIns, links, commitTyped, keyRing, ...ends }, message);
    },
    async unlink({ platform, tenant, app }, chatUserId, messageId) {
      const person = { platform, tenant, app, chatUserId };
      const wasLinked = await links.remove(person, messageId);
      if (wasLinked) audit('unlinked', person);
      return { wasLinked, logoutUrl: await dialect.logoutUrl(serviceRedirectUri(publicOrigin)) };
    },
    pendingReleases: (limit) => releases.pending(limit),
    releaseDone: (releaseId) => releases.done(releaseId),
    releaseAgain: (releaseId) => releases.again(releaseId),
    freshAccessToken: ({ platform, tenant, app }, chatUserId, rejected) =>
      accessTokens.fresh({ platform, tenant, app, chatUserId }, rejected),
    recheckDue: (limit) =>
      recheckDue({ store, links, vault, dialect, accessTokens, keyRing, audit, tell, nowMs }, limit),
    async sweepKeys() {
      const counts = await sweepKeys({ store, keyRing, links });
      if (counts) report.sealedRecords(counts);
    },
    recall: () => parts.changes.all(),
    bringBack: (changes) => bringBack({ store, links, audit, tell, release, nowMs }, changes),
    routes: () => createPages(options, parts),
  };
}

export type { Account, ChatPerson, IdentityNotice, IdentityOptions, PersonOwner, Release, SignInRequest, TypedOutcome };
