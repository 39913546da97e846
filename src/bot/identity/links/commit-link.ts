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
import type { Ticket } from '../invitations/invitations.ts';
import { OUTCOME_LIFE_MS } from '../typed-code/typed-codes.ts';
import type { KeptTokens, SignedIn } from '../tokens/vault.ts';
import type { WaitsFor } from './waiting.ts';
import { asPersonId, type AccountId, type PersonId } from '../../domain/ids.ts';

const commitScript = loadScript(import.meta.url, '../scripts/commit-link.lua', COMMIT_LINK_SHAPE);

/** What became of a confirmed sign-in. */
export type Committed =
  | { kind: 'linked'; releases: Release[]; waitsFor: WaitsFor }
  /** An earlier or parallel confirmation of this very sign-in made the link, and told everybody. */
  | { kind: 'linked-before' }
  /** The ticket or the quarantine is over, or belongs to another browser. */
  | { kind: 'gone' }
  /** The chat person is linked to another account, and has to unlink there first. */
  | { kind: 'already-linked' }
  /** The account is linked to another chat person of the same tenant; undefined when their record does not open. */
  | { kind: 'held-elsewhere'; holder: ChatPerson | undefined };

export interface CommitRequest {
  ticket: Ticket;
  cookieHash: string;
  /** The quarantine as it was read; the commit fails if it changed. */
  quarantineText: string;
  signedIn: SignedIn;
}

/** A code that came by a chat message (SECURITY.md typed-code). */
export interface TypedProof {
  /** HMAC of what was typed. */
  mac: string;
  /** The message: the same one is counted once, and answered as before when it is handled again. */
  messageId: string;
}

/** What became of a sign-in whose code was typed. */
export type CommittedTyped = Committed | { kind: 'wrong'; triesLeft: number };

/**
 * Makes links. One atomic step: ticket, link, reverse index, tokens, releases; safe to repeat.
 * @param onLate gets the answer that came after the caller had given up: Redis may have made the link all the same
 */
export type CommitLink = (request: CommitRequest, onLate: (committed: Committed) => void) => Promise<Committed>;

/** The same step, for a ticket that awaits its code; a wrong code is counted in it, and the fifth ends the ticket. */
export type CommitTyped = (request: CommitRequest, proof: TypedProof) => Promise<CommittedTyped>;

const NAME_BYTES = 12;
/** Together about a minute, in which a Redis that stalls comes back; who confirmed is not told so long that it failed for good. */
const LATE_TRY_GAP_MS = 2 * SECOND_MS;
const MOST_LATE_TRIES = 20;
/** Wrong codes that end a ticket (SECURITY.md typed-code). */
const MOST_WRONG_CODES = 5;

type CommitParts = LinkParts & { waitsFor(person: ChatPerson): Promise<WaitsFor> };

type KeepRules = Pick<SignInRules, 'keepTokens' | 'uncheckedLinkDays'>;
/** Life of a link that no token can check again (SECURITY.md reused-numbers). */
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

/** Without a typed code none can be wrong. */
function unlessWrong(committed: CommittedTyped): Committed {
  return committed.kind === 'wrong' ? { kind: 'gone' } : committed;
}

function createRun(parts: CommitParts, links: Links, rules: KeepRules) {
  const { keepTokens, uncheckedLinkDays = UNCHECKED_LINK_DAYS } = rules;
  const { store, changes, nowMs } = parts;
  return async (
    request: CommitRequest,
    typed?: TypedProof,
    onLate?: (committed: CommittedTyped) => void,
  ): Promise<CommittedTyped> => {
    const { ticket, cookieHash, quarantineText, signedIn } = request;
    const person = personKey(ticket.person);
    const link = linkOf(request, links, { ...parts, keepTokens });
    const canBeChecked = tokensToKeep(signedIn.tokens, keepTokens).refreshToken !== undefined;
    const waitsFor = await parts.waitsFor(ticket.person);
    const linkId = hashParts('release', ticket.hash, String(signedIn.obtainedAtMs)).slice(0, 24);
    const names = {
      ...{ ticket: keys.ticket(ticket.hash), quarantine: keys.quarantine(cookieHash) },
      ...{ link: keys.link(person), holder: keys.holder(link.accountKey), changed: keys.changed(person) },
      ...{ waiting: keys.waiting(person), liveTicket: keys.liveTicket(person), outcomes: keys.typed(person) },
      ...{ releases: keys.releases(), rechecks: keys.rechecks() },
    };
    const args = {
      ...{ nowMs: nowMs(), cookieHash, quarantineRead: quarantineText, person, accountKey: link.accountKey },
      ...{ newQuarantine: leftOver(request, parts, waitsFor), quarantineLifeMs: PENDING_SIGN_IN_LIFE_MS },
      linkLifeMs: canBeChecked ? CHECKED_LINK_LIFE_MS : uncheckedLinkDays * DAY_MS,
      ...{ releaseLifeMs, releaseIdPrefix: releaseIdPrefix(linkId, person), releasePrefix: keys.release() },
      ...{ linkPrefix: keys.link(), nextCheckAtMs: canBeChecked ? nowMs() + DAY_MS : 0 },
      ...{ codeMac: typed?.mac, messageId: typed?.messageId, language: ticket.person.language },
      ...{ mostWrongCodes: MOST_WRONG_CODES, outcomeLifeMs: OUTCOME_LIFE_MS, callName: randomToken(NAME_BYTES) },
      ...{ linkedAtMs: link.linkedAtMs, fields: fieldArguments(link) },
    };
    const ask = async (): Promise<CommittedTyped> => {
      const { kind, detail, releases } = await store.run(commitScript, names, args);
      if (kind === 'wrong') return { kind, triesLeft: Number(detail) };
      if (kind === 'linked') {
        changes.keep({ kind, person, who: link.who, keys: names, args, atMs: Number(detail) });
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

/** What became of a link that a failover may have taken back. `known`: this history has it, or a later change. */
export type LinkedAgain = { kind: 'linked'; releases: Release[] } | { kind: 'known' } | { kind: 'held-elsewhere' };

/** Makes a link again after a failover, as of then. @throws IdentityError `store_away` */
export async function linkAgain(
  store: IdentityStore,
  { keys: names, args, atMs }: RecentLink,
  nowMs: number,
): Promise<LinkedAgain> {
  const { kind, releases } = await store.run(commitScript, names, { ...args, nowMs, madeAtMs: atMs });
  if (kind === 'linked') return { kind, releases: releasesFrom(releases) };
  return { kind: kind === 'held-elsewhere' ? kind : 'known' };
}

/** The same call again, by its name, until Redis says what became of it; undefined when it never does. */
async function askLater(ask: () => Promise<CommittedTyped>): Promise<CommittedTyped | undefined> {
  for (let tries = 0; tries < MOST_LATE_TRIES; tries += 1) {
    await pause(LATE_TRY_GAP_MS, undefined, { ref: false });
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
  }
  return undefined;
}

/** The account within a platform's tenant: one chat person each (SECURITY.md linked-in-one-step). */
export function accountKeyOf({ platform, tenant }: PersonOwner, accountId: AccountId): string {
  return hashParts('account', platform, tenant, accountId).slice(0, 40);
}

function linkOf(
  { ticket, signedIn }: CommitRequest,
  links: Links,
  parts: LinkParts & { keepTokens: KeepTokens },
): StoredLink {
  const { vault, nowMs, keepTokens } = parts;
  const { person } = ticket;
  // Versions grow with time, so that a refresh that began before this link cannot write into it.
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

/** Keeps as little as the setting allows (SECURITY.md keep-less). */
export function tokensToKeep({ refreshToken, accessToken, subject }: KeptTokens, keepTokens: KeepTokens): KeptTokens {
  if (keepTokens === 'none') return {};
  return { refreshToken, accessToken: keepTokens === 'both' ? accessToken : undefined, subject };
}

function leftOver(
  { ticket, cookieHash, signedIn }: CommitRequest,
  { keyRing, nowMs }: LinkParts,
  waitsFor: WaitsFor,
): string {
  const sealedName = keyRing.seal('done-page', cookieHash, signedIn.profile.name);
  const left: PendingSignIn = {
    kind: 'done',
    ticketHash: ticket.hash,
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
  // Broken or without its key: whoever holds the account cannot be told, and holds it all the same.
  return opened.kind === 'opened' ? opened.value : undefined;
}
