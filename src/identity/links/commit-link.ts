import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, SECOND_MS } from '../../base/clock.ts';
import { hashParts, randomToken } from '../../base/ids.ts';
import { inBackground } from '../../base/in-background.ts';
import { ifOpens } from '../../base/key-ring.ts';
import { loadScript } from '../../base/lua-script.ts';
import { personKey, type ChatPerson, type PersonOwner, type Release } from '../account.ts';
import { isIdentityError } from '../identity-error.ts';
import { CHECKED_LINK_LIFE_MS, UNCHECKED_LINK_LIFE_MS, type LinkParts, type Links } from './links.ts';
import { refreshAfterMs } from '../oauth/token-life.ts';
import type { KeepTokens } from '../options.ts';
import { PENDING_SIGN_IN_LIFE_MS, type PendingSignIn } from '../tickets/pending-sign-ins.ts';
import { releaseFrom, releaseIdPrefix, releaseLifeMs } from './releases.ts';
import { fieldArguments, type StoredLink } from './stored-link.ts';
import type { RecentChange } from './recent-changes.ts';
import { CHANGED_LIFE_MS, keys, type IdentityStore } from '../store.ts';
import type { Ticket } from '../tickets/tickets.ts';
import { OUTCOME_LIFE_MS } from '../typed-code/typed-codes.ts';
import type { KeptTokens, SignedIn } from '../tokens/vault.ts';
import type { WaitsFor } from './waiting.ts';

const commitScript = loadScript(import.meta.url, '../scripts/commit-link.lua', { CHANGED_LIFE_MS });
/** Of commit-link.lua, from 0. */
const MADE_AT_ARGUMENT = 19;

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

export function createCommit(
  parts: CommitParts,
  links: Links,
  keepTokens: KeepTokens,
): { commit: CommitLink; commitTyped: CommitTyped } {
  const run = createRun(parts, links, keepTokens);
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

function createRun(parts: CommitParts, links: Links, keepTokens: KeepTokens) {
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
    const nextCheckMs = canBeChecked ? nowMs() + DAY_MS : 0;
    const linkLifeMs = canBeChecked ? CHECKED_LINK_LIFE_MS : UNCHECKED_LINK_LIFE_MS;
    const waitsFor = await parts.waitsFor(ticket.person);
    const left = leftOver(request, parts, waitsFor);
    const names = [
      ...[keys.ticket(ticket.hash), keys.quarantine(cookieHash), keys.link(person), keys.holder(link.accountKey)],
      ...[keys.waiting(person), keys.liveTicket(person), keys.releases(), keys.rechecks(), keys.typed(person)],
      keys.changed(person),
    ];
    const linkId = hashParts('release', ticket.hash, String(signedIn.obtainedAtMs)).slice(0, 24);
    const releasePrefix = releaseIdPrefix(linkId, person);
    const args = [
      ...[nowMs(), cookieHash, quarantineText, person, link.accountKey, left, PENDING_SIGN_IN_LIFE_MS, linkLifeMs],
      ...[releaseLifeMs, releasePrefix, keys.release(), keys.link(), nextCheckMs],
      ...[typed?.mac ?? '', typed?.messageId ?? '', ticket.person.language, MOST_WRONG_CODES, OUTCOME_LIFE_MS],
      ...[randomToken(NAME_BYTES), '', link.linkedAtMs],
      ...fieldArguments(link),
    ];
    const ask = async (): Promise<CommittedTyped> => {
      const [kind, ...rest] = (await store.run(commitScript, names, args)) as [CommittedTyped['kind'], ...string[]];
      if (kind === 'wrong') return { kind, triesLeft: Number(rest[0]) };
      if (kind === 'linked') {
        const [madeAtMs, ...releases] = rest;
        changes.keep({ kind, person, who: link.who, keys: names, args, atMs: Number(madeAtMs) });
        return { kind, releases: releasesFrom(releases), waitsFor };
      }
      return kind === 'held-elsewhere' ? { kind, holder: await holderOf(links, rest[0]) } : { kind };
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
  { keys: names, args: [_before, ...args], atMs }: RecentChange,
  nowMs: number,
): Promise<LinkedAgain> {
  const again = [nowMs, ...args].with(MADE_AT_ARGUMENT, atMs);
  const [kind, ...rest] = (await store.run(commitScript, names, again)) as [LinkedAgain['kind'], ...string[]];
  return kind === 'linked' ? { kind, releases: releasesFrom(rest.slice(1)) } : { kind };
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
export function accountKeyOf({ platform, tenant }: PersonOwner, accountId: string): string {
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
export function tokensToKeep({ refreshToken, accessToken }: KeptTokens, keepTokens: KeepTokens): KeptTokens {
  if (keepTokens === 'none') return {};
  return { refreshToken, accessToken: keepTokens === 'both' ? accessToken : undefined };
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

async function holderOf(links: Links, holder: string | undefined): Promise<ChatPerson | undefined> {
  const link = holder === undefined ? undefined : await links.read(holder);
  if (holder === undefined || !link) return undefined;
  return ifOpens(() => links.openWho(holder, link.who));
}
