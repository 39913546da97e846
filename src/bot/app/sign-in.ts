import { readFileSync } from 'node:fs';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { settledWithin } from '../../shared/settled-within.ts';
import { detectFailover } from '../../shared/redis/failover-detector.ts';
import type { Base, BotOptions } from './base.ts';
import { parseProfileMapFile, type ProfileMap } from '../../shared/sign-in/profile-map-file.ts';
import { createIdentity, type Identity } from '../identity/identity.ts';
import type { FindHeldMessages, WaitsFor } from '../identity/links/waiting.ts';
import type { TurnClaim } from '../domain/turn.ts';
import { personIdOf } from '../domain/conversation.ts';
import { createNotifyPerson } from './notify-person.ts';
import { recordSignIns } from './audit.ts';

const RELEASES_REPEATED_AT_ONCE = 50;
const MAX_RELEASES_MS = 2 * SECOND_MS;
const RECHECK_EVERY_MS = MINUTE_MS;
const RECHECKED_AT_ONCE = 50;

/**
 * Creates the sign-in module. The pages and the turns each have one, on their own connection. Undefined if sign-in is off.
 */
export function createSignIn(options: BotOptions, base: Base): Identity | undefined {
  const { config, secrets, recentLinks, nowMs, log } = options;
  const { signIn } = config;
  if (signIn.mode === 'off') return undefined;
  const report = config.audit.isOn ? recordSignIns(options, base, () => identity) : options.report;
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
      maxFailuresPerMinute: signIn.maxFailuresPerMinute,
    },
    chat: {
      findHeldMessages: (personId, conversations) =>
        lookForHeld(base, config.queue.questionMaxAgeSec * SECOND_MS, personId, conversations),
      onLinked: (release) => takeRelease(base, identity, release),
      notify: createNotifyPerson({
        ...{ ...base, log },
        groupScope: config.conversation.groupScope,
        defaultLanguage: config.defaultLanguage,
      }),
    },
    changes: recentLinks,
    nowMs,
    log,
    report,
  });
  return identity;
}

/** Read at start with the other files, so that a fault in it stops the start. @throws ConfigFileError */
export function readProfileMap({ profileMapFile }: BotOptions['config']['signIn']): ProfileMap {
  return parseProfileMapFile(profileMapFile === undefined ? '{}' : readFileSync(profileMapFile, 'utf8'));
}

/** What the pages can promise a person who signs in. */
async function lookForHeld(
  { store }: Base,
  maxAgeMs: number,
  ...[personId, conversations]: Parameters<FindHeldMessages>
): Promise<WaitsFor> {
  const found = await Promise.all(conversations.map((one) => store.heldFor(one, personId, maxAgeMs)));
  if (found.some(({ inPrivate }) => inPrivate > 0)) return 'private';
  if (found.some(({ inGroup }) => inGroup > 0)) return 'group';
  return found.some(({ tooOldInGroup }) => tooOldInGroup > 0) ? 'too-old-in-group' : 'nothing';
}

/**
 * Releases a linked person's held messages and wakes their conversation; only then is the release done. While a turn is open
 * there, it may have begun before the link and be held later, so that the release stays.
 */
async function takeRelease(
  { store, wakeQueue }: Base,
  identity: Identity,
  { id, conversation, personId }: Awaited<ReturnType<Identity['pendingReleases']>>[number],
): Promise<void> {
  const { count, isTurnOpen } = await store.release(conversation, personId);
  if (count > 0 || !isTurnOpen) await wakeQueue.wake(conversation);
  await (isTurnOpen ? identity.retryRelease(id) : identity.completeRelease(id));
}

/** If the link was made while the message was becoming held, releases the message at once. */
export async function releaseIfLinked({ store }: Base, identity: Identity, claim: TurnClaim): Promise<number> {
  const message = claim.messages.at(-1)?.message;
  const account = message && (await identity.accountOf(message, message.sender.userId));
  if (!message || account?.status !== 'active') return 0;
  return (await store.release(claim.conversation, personIdOf(message, message.sender.userId))).count;
}

/**
 * Repeats releases that a crash left undone after a link's commit. A release that cannot finish now blocks no other, and is
 * not started again meanwhile.
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
    await settledWithin(taking, MAX_RELEASES_MS);
  };
}

/**
 * After a failover, repeats the links and unlinks that this process made shortly before and the new master never received.
 * @returns a function that stops watching
 */
export function watchForLostLinks({ redis }: Base, identity: Identity | undefined, log: Log): () => void {
  if (!identity) return () => undefined;
  const watch = detectFailover({ redis, memory: identity, what: 'links', log });
  return () => watch.end();
}

/**
 * Re-checks linked accounts daily (SECURITY.md one-refresh), a few at a time, and re-encrypts records after a key change.
 */
export function startRechecks(identity: Identity, log: Log): () => void {
  const warn = (what: string) => (error: unknown) => log.warn({ error: asError(error) }, what);
  const timer = setInterval(() => {
    identity.recheckDue(RECHECKED_AT_ONCE).catch(warn('the daily check of accounts failed'));
    identity.sweepKeys().catch(warn('re-encryption after a key change failed'));
  }, RECHECK_EVERY_MS);
  return () => clearInterval(timer);
}
