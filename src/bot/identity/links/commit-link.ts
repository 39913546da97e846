import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, SECOND_MS } from '../../../shared/clock.ts';
import { hashParts, randomToken } from '../../../shared/crypto/ids.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { loadScript } from '../../../shared/redis/lua-script.ts';
import { personKey, type ChatPerson, type PersonOwner, type Release } from '../account.ts';
import { isIdentityError } from '../identity-error.ts';
import { CHECKED_LINK_LIFE_MS, type LinkParts, type Links } from './links.ts';
import { refreshAfterMs } from '../oauth/token-life.ts';
import type { KeepTokens, SignInRules } from '../options.ts';
import { PENDING_SIGN_IN_LIFE_MS, type PendingSignIn } from '../invitations/pending-sign-ins.ts';
import { releaseFrom, releaseIdPrefix, releaseLifeMs } from './releases.ts';
import { fieldArguments, type StoredLink } from './stored-link.ts';
import { COMMIT_LINK_SHAPE } from './link-shapes.ts';
import type { RecentLink } from './recent-changes.ts';
import { keys, type IdentityStore } from '../store.ts';
import type { Invitation } from '../invitations/invitations.ts';
import { OUTCOME_LIFE_MS } from '../typed-code/typed-codes.ts';
import type { KeptTokens, SignedIn } from '../tokens/vault.ts';
import type { WaitsFor } from './waiting.ts';
import { asPersonId, type AccountId, type PersonId } from '../../domain/ids.ts';

const commitScript = loadScript(import.meta.url, '../scripts/commit-link.lua', COMMIT_LINK_SHAPE);

/** The outcome of a confirmed sign-in. */
export type CommitResult =
  | { kind: 'linked'; releases: Release[]; waitsFor: WaitsFor }
  /** An earlier or parallel confirmation of this sign-in created the link and notified everyone. */
  | { kind: 'linked-before' }
  /** The invitation or the pending sign-in has ended or belongs to another browser. */
  | { kind: 'gone' }
  /** The chat user is linked to another account and must unlink that first. */
  | { kind: 'already-linked' }
  /**
   * The account is linked to another chat user of the same tenant; `holder` is undefined if that record cannot be decrypted.
   */
  | { kind: 'held-elsewhere'; holder: ChatPerson | undefined };

export interface CommitRequest {
  invitation: Invitation;
  cookieHash: string;
  /** The pending sign-in as read. The commit fails if it has changed. */
  quarantineText: string;
  signedIn: SignedIn;
}

/** A code typed in a chat message (SECURITY.md typed-code). */
export interface TypedProof {
  /** HMAC of the typed code. */
  mac: string;
  /** Id of the message. A reprocessed message is counted once and gets the same answer. */
  messageId: string;
}

/** The outcome of a sign-in with a typed code. */
export type TypedCommitResult = CommitResult | { kind: 'wrong'; triesLeft: number };

/**
 * Creates links in one atomic step: invitation, link, reverse index, tokens and releases. Safe to repeat.
 * @param onLate receives an outcome that arrives after the call failed, since Redis may have created the link
 */
export type CommitLink = (request: CommitRequest, onLate: (committed: CommitResult) => void) => Promise<CommitResult>;

/** The same step for an invitation that awaits its code. Counts a wrong code; the fifth ends the invitation. */
export type CommitTyped = (request: CommitRequest, proof: TypedProof) => Promise<TypedCommitResult>;

const NAME_BYTES = 12;
/** About a minute in total, enough for a stalled Redis to recover. */
const LATE_TRY_GAP_MS = 2 * SECOND_MS;
const MAX_LATE_TRIES = 20;
/** Number of wrong codes that ends an invitation (SECURITY.md typed-code). */
const MAX_WRONG_CODES = 5;

type CommitParts = LinkParts & { waitsFor(person: ChatPerson): Promise<WaitsFor> };

type KeepRules = Pick<SignInRules, 'keepTokens' | 'uncheckedLinkDays'>;
/** Default lifetime of a link that no token can re-check (SECURITY.md reused-numbers). */
const UNCHECKED_LINK_DAYS = 30;

export function createCommit(
  parts: CommitParts,
  links: Links,
  rules: KeepRules,
): { commit: CommitLink; commitTyped: CommitTyped } {
  const run = createRun(parts, links, rules);
  return {
    commit: (request, onLate) =>
      run(request, undefined, (committed) => onLate(unlessWrong(committed))).then(unlessWrong),
    commitTyped: run,
  };
}

/** `wrong` cannot occur without a typed code. */
function unlessWrong(committed: TypedCommitResult): CommitResult {
  return committed.kind === 'wrong' ? { kind: 'gone' } : committed;
}

function createRun(parts: CommitParts, links: Links, rules: KeepRules) {
  const { keepTokens, uncheckedLinkDays = UNCHECKED_LINK_DAYS } = rules;
  const { store, changes, nowMs } = parts;
  return async (
    request: CommitRequest,
    typed?: TypedProof,
    onLate?: (committed: TypedCommitResult) => void,
  ): Promise<TypedCommitResult> => {
    const { invitation, cookieHash, quarantineText, signedIn } = request;
    const person = personKey(invitation.person);
    const link = linkOf(request, links, { ...parts, keepTokens });
    const canBeChecked = tokensToKeep(signedIn.tokens, keepTokens).refreshToken !== undefined;
    const waitsFor = await parts.waitsFor(invitation.person);
    const linkId = hashParts('release', invitation.hash, String(signedIn.obtainedAtMs)).slice(0, 24);
    const names = {
      ...{ ticket: keys.invitation(invitation.hash), quarantine: keys.quarantine(cookieHash) },
      ...{ link: keys.link(person), holder: keys.holder(link.accountKey), changed: keys.changed(person) },
      ...{ waiting: keys.waiting(person), liveTicket: keys.liveInvitation(person), outcomes: keys.typed(person) },
      ...{ releases: keys.releases(), rechecks: keys.rechecks() },
    };
    const args = {
      ...{ nowMs: nowMs(), cookieHash, quarantineRead: quarantineText, person, accountKey: link.accountKey },
      ...{ newQuarantine: leftOver(request, parts, waitsFor), quarantineLifeMs: PENDING_SIGN_IN_LIFE_MS },
      linkLifeMs: canBeChecked ? CHECKED_LINK_LIFE_MS : uncheckedLinkDays * DAY_MS,
      ...{ releaseLifeMs, releaseIdPrefix: releaseIdPrefix(linkId, person), releasePrefix: keys.release() },
      ...{ linkPrefix: keys.link(), nextCheckAtMs: canBeChecked ? nowMs() + DAY_MS : 0 },
      ...{ codeMac: typed?.mac, messageId: typed?.messageId, language: invitation.person.language },
      ...{ maxWrongCodes: MAX_WRONG_CODES, outcomeLifeMs: OUTCOME_LIFE_MS, callName: randomToken(NAME_BYTES) },
      ...{ linkedAtMs: link.linkedAtMs, fields: fieldArguments(link) },
    };
    const ask = async (): Promise<TypedCommitResult> => {
      const { kind, detail, releases } = await store.run(commitScript, names, args);
      if (kind === 'wrong') return { kind, triesLeft: Number(detail) };
      if (kind === 'linked') {
        changes.add({ kind, person, who: link.who, keys: names, args, atMs: Number(detail) });
        return { kind, releases: releasesFrom(releases), waitsFor };
      }
      if (kind === 'held-elsewhere') return { kind, holder: await holderOf(links, asPersonId(detail)) };
      return { kind: kind === 'known' ? 'linked-before' : kind };
    };
    return ask().catch((error: unknown) => {
      if (onLate && isIdentityError(error, 'store_away'))
        inBackground(async () => {
          const late = await askLater(ask);
          if (late) onLate(late);
        });
      throw error;
    });
  };
}

/** The result of restoring a link. `known`: Redis already has it, or a later change. */
export type LinkedAgain = { kind: 'linked'; releases: Release[] } | { kind: 'known' } | { kind: 'held-elsewhere' };

/** Restores a link after a failover, with its original time. @throws IdentityError `store_away` */
export async function restoreLink(
  store: IdentityStore,
  { keys: names, args, atMs }: RecentLink,
  nowMs: number,
): Promise<LinkedAgain> {
  const { kind, releases } = await store.run(commitScript, names, { ...args, nowMs, madeAtMs: atMs });
  if (kind === 'linked') return { kind, releases: releasesFrom(releases) };
  return { kind: kind === 'held-elsewhere' ? kind : 'known' };
}

/** Repeats the same call until Redis returns its outcome; undefined if it never does. */
async function askLater(ask: () => Promise<TypedCommitResult>): Promise<TypedCommitResult | undefined> {
  for (let tries = 0; tries < MAX_LATE_TRIES; tries += 1) {
    await pause(LATE_TRY_GAP_MS, undefined, { ref: false });
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
  }
  return undefined;
}

/**
 * Identifies an account within a platform's tenant, where it can have one chat user only (SECURITY.md linked-in-one-step).
 */
export function accountKeyOf({ platform, tenant }: PersonOwner, accountId: AccountId): string {
  return hashParts('account', platform, tenant, accountId).slice(0, 40);
}

function linkOf(
  { invitation, signedIn }: CommitRequest,
  links: Links,
  parts: LinkParts & { keepTokens: KeepTokens },
): StoredLink {
  const { vault, nowMs, keepTokens } = parts;
  const { person } = invitation;
  // Versions increase with time, so that a refresh started before this link cannot write to it.
  const version = nowMs();
  const tokens = tokensToKeep(signedIn.tokens, keepTokens);
  const hasTokens = tokens.refreshToken !== undefined || tokens.accessToken !== undefined;
  return {
    accountKey: accountKeyOf(person, signedIn.profile.id),
    who: links.sealWho(person),
    profile: vault.seal({ purpose: 'profile', person, version }, signedIn.profile),
    profileVersion: version,
    tokens: hasTokens ? vault.seal({ purpose: 'tokens', person, version }, tokens) : '',
    tokensVersion: version,
    status: 'active',
    linkedAtMs: nowMs(),
    refreshAtMs: tokens.accessToken === undefined ? 0 : signedIn.obtainedAtMs + refreshAfterMs(signedIn.lifeMs),
    lastRefreshAttemptMs: 0,
    notBeforeMs: 0,
    failures: 0,
    refusedAtMs: 0,
    unreachableSinceMs: 0,
  };
}

/** Keeps only the tokens that the setting requires (SECURITY.md keep-less). */
export function tokensToKeep({ refreshToken, accessToken, subject }: KeptTokens, keepTokens: KeepTokens): KeptTokens {
  if (keepTokens === 'none') return {};
  return { refreshToken, accessToken: keepTokens === 'both' ? accessToken : undefined, subject };
}

function leftOver(
  { invitation, cookieHash, signedIn }: CommitRequest,
  { keyRing, nowMs }: LinkParts,
  waitsFor: WaitsFor,
): string {
  const sealedName = keyRing.seal('done-page', cookieHash, signedIn.profile.name);
  const left: PendingSignIn = {
    kind: 'done',
    ticketHash: invitation.hash,
    sealedName,
    expiresAtMs: nowMs() + PENDING_SIGN_IN_LIFE_MS,
    waitsFor,
  };
  return JSON.stringify(left);
}

function releasesFrom(pairs: string[]): Release[] {
  return pairs.flatMap((id, index) => {
    const conversation = pairs[index + 1];
    return index % 2 === 0 && conversation !== undefined ? [releaseFrom(id, conversation)] : [];
  });
}

async function holderOf(links: Links, holder: PersonId | undefined): Promise<ChatPerson | undefined> {
  const link = holder === undefined ? undefined : await links.read(holder);
  if (holder === undefined || !link) return undefined;
  const opened = links.openWho(holder, link.who);
  // Corrupt or without its key: the holder cannot be notified, but still holds the account.
  return opened.kind === 'opened' ? opened.value : undefined;
}
