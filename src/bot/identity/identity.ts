import type Router from '@koa/router';
import { asError } from '../../shared/coded-error.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { Log } from '../../shared/log.ts';
import type { Language } from '../../shared/text/texts.ts';
import type { ChatPerson, IdentityNotice, PersonOwner, Release } from './account.ts';
import type { Account } from '../domain/account.ts';
import { restoreRecentChanges } from './links/bring-back.ts';
import { serviceRedirectUri } from './browser/authorization-request.ts';
import { proofsFor, rejectUnsafeRules, type IdentityOptions } from './options.ts';
import { recheckDue } from './tokens/recheck.ts';
import type { RecentChange } from './links/recent-changes.ts';
import { createFailureLimit } from './failure-limit.ts';
import { createRoutes } from './browser/routes.ts';
import { createAccountSignIn, type AccountSignIn } from './browser/account-sign-in.ts';
import { createSignInFlow } from './sign-in-flow.ts';
import { createParts, type IdentityParts } from './create-parts.ts';
import { sweepKeys } from './links/sweep-keys.ts';
import type { InvitationRefusal, SignInRequest } from './invitations/invitations.ts';
import { redeemTypedCode, type TypedMessage, type TypedOutcome } from './typed-code/redeem-code.ts';

/** The result of inviting a user to sign in. */
export type SignInInvitation =
  | { kind: 'invited'; url: string; expiresAtMs: number }
  /** An earlier invitation is still valid. `url` is its link, or absent if none was to be created. */
  | { kind: 'waiting'; url?: string; expiresAtMs: number }
  | InvitationRefusal;

/**
 * Maps chat users to accounts of the institution. All methods that use Redis: @throws IdentityError `store_away` Never
 * writes to a chat; calls `notify` and `onLinked` instead.
 */
export interface Identity {
  /**
   * One read in Redis. Undefined if the user is not linked or the record cannot be decrypted; the user then signs in again.
   */
  accountOf(owner: PersonOwner, chatUserId: string): Promise<Account | undefined>;
  /** Language of the person's last sign-in; undefined if the person is not linked. One read in Redis. */
  languageOf(owner: PersonOwner, chatUserId: string): Promise<Language | undefined>;
  /**
   * Creates a link for the private chat, unless one is valid or the user is already linked (SECURITY.md private-invitation).
   * The link must not be shown in a group. Call this before holding a message: a link created in between is then either
   * found here or releases the message's conversation.
   */
  inviteToSignIn(request: SignInRequest): Promise<SignInInvitation>;
  /**
   * Processes a typed sign-in code (SECURITY.md typed-code), if that is the proof. Safe to repeat for the same message.
   * @returns undefined if the message contains no code; otherwise the message must not reach the model, the history or the
   * held messages
   */
  redeemTypedCode(message: TypedMessage): Promise<TypedOutcome | undefined>;
  /**
   * Deletes the link, its reverse index and its tokens (SECURITY.md unlink-ends-all). Signing out at the service is left to
   * the user. `logoutUrl` is undefined if the service has no sign-out page or could not be asked for it.
   * @param messageId of the requesting message; if it is processed again, the result is the same and nothing more is removed
   */
  unlink(
    owner: PersonOwner,
    chatUserId: string,
    messageId: string,
  ): Promise<{ wasLinked: boolean; logoutUrl: string | undefined }>;
  /** Releases not yet reported as done, oldest first. */
  pendingReleases(limit: number): Promise<Release[]>;
  completeRelease(releaseId: string): Promise<void>;
  /** Returns the release to the end of the queue; `pendingReleases` lists it again until it expires. */
  retryRelease(releaseId: string): Promise<void>;
  /**
   * @param rejected a token that the service has just refused
   * @throws IdentityError `refresh_later`, `sign_in_again`
   */
  freshAccessToken(owner: PersonOwner, chatUserId: string, rejected?: string): Promise<string>;
  /** Re-checks users whose daily check is due. @returns how many; if equal to `limit`, more may be due */
  recheckDue(limit: number): Promise<number>;
  /** While the ring has an older key: periodically re-encrypts links with the newest one and reports the records per key. */
  sweepKeys(): Promise<void>;
  /** The recent links and unlinks of this process, oldest first. */
  recall(): RecentChange[];
  /** Restores those changes that a failover lost. Later changes take precedence. Safe to repeat. */
  bringBack(changes: RecentChange[]): Promise<void>;
  /** Sign-in without a chat, for administrators. */
  accountSignIn(): AccountSignIn;
  /** The router of the pages, to be mounted at the root. */
  routes(): Router;
}

/** @throws IdentityError `options_unsafe` */
export function createIdentity(options: IdentityOptions): Identity {
  const { keyRing, nowMs, log, report } = options;
  const { rules } = options.signIn;
  rejectUnsafeRules(rules, options.platforms);
  const parts = createParts(options);
  const { store, links, invitations, releases, dialect, accessTokens, vault, audit, tell, release } = parts;
  const publicOrigin = new URL(options.pages.publicUrl).origin;
  return {
    accountOf: ({ platform, tenant, app }, chatUserId) => links.accountOf({ platform, tenant, app, chatUserId }),
    languageOf: ({ platform, tenant, app }, chatUserId) => links.languageOf({ platform, tenant, app, chatUserId }),
    async inviteToSignIn(request) {
      const asked = await invitations.request(request);
      if (asked.kind !== 'invited' && asked.kind !== 'waiting') return asked;
      const { kind, token, expiresAtMs } = asked;
      const url = `${publicOrigin}/link/${token ?? ''}`;
      if (kind === 'waiting') return { kind, expiresAtMs, url: token === undefined ? undefined : url };
      audit('link-asked', request);
      inBackground(() => nameInvitation(parts, { person: request, token, log }));
      return { kind, url, expiresAtMs };
    },
    async redeemTypedCode(message) {
      if (!proofsFor(rules, message.owner.platform).includes('typed-code')) return undefined;
      const { codes, pendingSignIns, commitTyped } = parts;
      const ends = { audit, tell, release };
      return redeemTypedCode({ codes, invitations, pendingSignIns, links, commitTyped, keyRing, ...ends }, message);
    },
    async unlink({ platform, tenant, app }, chatUserId, messageId) {
      const person = { platform, tenant, app, chatUserId };
      const wasLinked = await links.remove(person, messageId);
      if (wasLinked) audit('unlinked', person);
      return { wasLinked, logoutUrl: await dialect.logoutUrl(serviceRedirectUri(publicOrigin)) };
    },
    pendingReleases: (limit) => releases.pending(limit),
    completeRelease: (releaseId) => releases.done(releaseId),
    retryRelease: (releaseId) => releases.again(releaseId),
    freshAccessToken: ({ platform, tenant, app }, chatUserId, rejected) =>
      accessTokens.fresh({ platform, tenant, app, chatUserId }, rejected),
    recheckDue: (limit) =>
      recheckDue({ store, links, vault, dialect, accessTokens, keyRing, audit, tell, nowMs }, limit),
    async sweepKeys() {
      const counts = await sweepKeys({ store, keyRing, links });
      if (counts) report.sealedRecords(counts);
    },
    recall: () => parts.changes.all(),
    bringBack: (changes) => restoreRecentChanges({ store, links, audit, tell, release, nowMs }, changes),
    accountSignIn: () =>
      createAccountSignIn({ dialect, keyRing, publicOrigin, state: options.signIn.service.state, nowMs }),
    routes() {
      const platforms = [...options.platforms.values()];
      const { trustedProxyHops = 0, helpUrl, maxFailuresPerMinute: maxPerMinute } = options.pages;
      return createRoutes({
        steps: createSignInFlow(options, parts, publicOrigin),
        failures: createFailureLimit({ store, keyRing, nowMs, maxPerMinute }),
        platformNames: platforms.map(({ name }) => name),
        ...{ apps: parts.apps, publicOrigin, trustedProxyHops, helpUrl, log },
      });
    },
  };
}

/**
 * Stores the platform's display name with a new invitation, so that the pages can name the account. Runs in the background
 * within the platform's response time limit; a link does not wait for it. Without a name, the pages show the masked id.
 */
async function nameInvitation(
  { invitations, apps }: IdentityParts,
  { person, token, log }: { person: ChatPerson; token: string; log: Log },
): Promise<void> {
  try {
    const name = await apps.platformOf(person)?.displayNameOf?.(person.chatUserId);
    if (name !== undefined) await invitations.name(token, name);
  } catch (thrown) {
    log.info({ error: asError(thrown) }, 'the platform did not return a name');
  }
}

export type { Account, ChatPerson, IdentityNotice, IdentityOptions, PersonOwner, Release, SignInRequest, TypedOutcome };
