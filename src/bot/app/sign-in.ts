import { readFileSync } from 'node:fs';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { watchHistory } from '../../shared/redis/failover-detector.ts';
import type { Base, BotOptions } from './base.ts';
import { parseProfileMapFile, type ProfileMap } from '../../shared/sign-in/profile-map-file.ts';
import { createIdentity, type Identity } from '../identity/identity.ts';
import type { FindHeldMessages, WaitsFor } from '../identity/links/waiting.ts';
import type { TurnClaim } from '../domain/turn.ts';
import { personIdOf } from '../domain/conversation.ts';
import { createTellPerson } from './notify-person.ts';
import { OLDEST_QUESTION_MS } from '../turn/answer/patience.ts';

const RELEASES_REPEATED_AT_ONCE = 50;
const LONGEST_RELEASES_MS = 2 * SECOND_MS;
const RECHECK_EVERY_MS = MINUTE_MS;
const RECHECKED_AT_ONCE = 50;

/** The sign-in side; both the pages and the turns have one, each on its own connection. Undefined when sign-in is off. */
export function createSignIn(options: BotOptions, base: Base): Identity | undefined {
  const { config, secrets, recentLinks, nowMs, log, report } = options;
  const { signIn } = config;
  if (signIn.mode === 'off') return undefined;
  const identity: Identity = createIdentity({
    redis: base.redis,
    keyRing: base.keyRing,
    platforms: base.platforms,
    signIn: {
      service: {
        type: signIn.type,
        authUrl: signIn.url,
        clientId: signIn.clientId,
        clientSecret: secrets.signInClientSecret ?? '',
        scope: signIn.scope,
        clientAuth: signIn.clientAuth,
        state: signIn.state,
        expiresUnit: signIn.expiresUnit,
        profileMap: readProfileMap(signIn),
      },
      rules: {
        proof: signIn.proofs,
        proofBy: signIn.proofsBy,
        sameIdRule: signIn.sameIdRule,
        keepTokens: signIn.keepTokens,
        uncheckedLinkDays: signIn.linkDays,
        allowedIdentityCodes: signIn.identityCodes,
      },
    },
    pages: {
      publicUrl: config.http.publicUrl,
      providerName: signIn.serviceName,
      trustedProxyHops: config.http.trustedProxyHops,
      helpUrl: signIn.helpUrl,
    },
    chat: {
      lookForHeld: (personId, conversations) => lookForHeld(base, personId, conversations),
      onLinked: (release) => takeRelease(base, identity, release),
      notify: createTellPerson({ ...base, groupScope: config.conversation.groupScope, log }),
    },
    changes: recentLinks,
    nowMs,
    log,
    report,
  });
  return identity;
}

/** Read at the start, with the other files: a fault in it stops the start. @throws ConfigFileError */
export function readProfileMap({ profileMapFile }: BotOptions['config']['signIn']): ProfileMap {
  return parseProfileMapFile(profileMapFile === undefined ? '{}' : readFileSync(profileMapFile, 'utf8'));
}

/** What the pages may promise a person who signs in. */
async function lookForHeld(
  { store }: Base,
  ...[personId, conversations]: Parameters<FindHeldMessages>
): Promise<WaitsFor> {
  const found = await Promise.all(conversations.map((one) => store.heldFor(one, personId, OLDEST_QUESTION_MS)));
  if (found.some(({ inPrivate }) => inPrivate > 0)) return 'private';
  if (found.some(({ inGroup }) => inGroup > 0)) return 'group';
  return found.some(({ tooOldInGroup }) => tooOldInGroup > 0) ? 'too-old-in-group' : 'nothing';
}

/**
 * Brings a linked person's held messages back and wakes their conversation; only then the release counts as done. While a
 * turn is open there, it may be one that began before the link was made and is held after this: then the release stays.
 */
async function takeRelease(
  { store, wakeQueue }: Base,
  identity: Identity,
  { id, conversation, personId }: Awaited<ReturnType<Identity['pendingReleases']>>[number],
): Promise<void> {
  const { count, isTurnOpen } = await store.release(conversation, personId);
  if (count > 0 || !isTurnOpen) await wakeQueue.wake(conversation);
  await (isTurnOpen ? identity.releaseAgain(id) : identity.releaseDone(id));
}

/** A link that was made while the message was on its way to be held releases it at once. */
export async function releaseIfLinked({ store }: Base, identity: Identity, claim: TurnClaim): Promise<number> {
  const message = claim.messages.at(-1)?.message;
  const account = message && (await identity.accountOf(message, message.sender.userId));
  if (!message || account?.status !== 'active') return 0;
  return (await store.release(claim.conversation, personIdOf(message, message.sender.userId))).count;
}

/**
 * What a crash between a link's commit and its release left undone. One that cannot be finished now holds up no other, and
 * is not begun again meanwhile.
 */
export function repeatReleases(base: Base, identity: Identity): () => Promise<void> {
  const underWay = new Set<string>();
  return async () => {
    const releases = (await identity.pendingReleases(RELEASES_REPEATED_AT_ONCE)).filter(({ id }) => !underWay.has(id));
    const taking = releases.map(async (release) => {
      underWay.add(release.id);
      try {
        await takeRelease(base, identity, release);
      } finally {
        underWay.delete(release.id);
      }
    });
    await settledWithin(taking, LONGEST_RELEASES_MS);
  };
}

/**
 * After a failover, makes and undoes again the links that this process made and undid shortly before and the new master never
 * got. @returns a function that ends the watching
 */
export function watchForLostLinks({ redis }: Base, identity: Identity | undefined, log: Log): () => void {
  if (!identity) return () => undefined;
  const watch = watchHistory({ redis, memory: identity, what: 'links', log });
  return () => watch.end();
}

/** The daily re-check of linked accounts (SECURITY.md one-refresh), a few at a time, and the sweep after a change of keys (2.3). */
export function startRechecks(identity: Identity, log: Log): () => void {
  const warn = (what: string) => (error: unknown) => log.warn({ error: asError(error) }, what);
  const timer = setInterval(() => {
    identity.recheckDue(RECHECKED_AT_ONCE).catch(warn('a re-check of accounts failed'));
    identity.sweepKeys().catch(warn('a sweep after a change of keys failed'));
  }, RECHECK_EVERY_MS);
  return () => clearInterval(timer);
}
