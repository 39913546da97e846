import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Language } from '../../../shared/text/texts.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import {
  personKey,
  readChatPerson,
  type ChatPerson,
  type ReleaseHandler,
  type PersonOwner,
  type NotifyPerson,
} from '../account.ts';
import type { Audit } from '../audit.ts';
import type { CommitTyped, TypedCommitResult } from '../links/commit-link.ts';
import { reportConflict } from '../links/link-conflict.ts';
import type { Links } from '../links/links.ts';
import { maskId } from '../mask-id.ts';
import type { PendingSignIns } from '../invitations/pending-sign-ins.ts';
import type { Invitations } from '../invitations/invitations.ts';
import { macsOfCode } from './make-code.ts';
import { readCodes, type ReadCode } from './read-codes.ts';
import type { AwaitedCode, InvalidatedInvitation, RememberedOutcome, TypedCodes } from './typed-codes.ts';
import type { PersonId } from '../../domain/ids.ts';

/** The parts of a chat message that matter for a typed code. */
export interface TypedMessage {
  owner: PersonOwner;
  chatUserId: string;
  chatKind: 'private' | 'group';
  text: string;
  /** Unchanged when the message is processed again, which then has the same outcome. */
  messageId: string;
}

/** The outcome of a message that contained a code. Such a message is never processed further. */
export type TypedOutcome = { language: Language | undefined } & (
  | { kind: 'linked'; name: string; maskedId: string; atMs: number }
  | { kind: 'wrong'; triesLeft: number }
  | { kind: 'code-expired' | 'already-linked' | 'held-elsewhere' }
  /**
   * No code is expected from this user. If the code belonged to someone else, it is now invalid and its owner was notified.
   */
  | { kind: 'not-awaited' }
  /** Codes may be typed only in the private chat. If this was a real code, it is now invalid. */
  | { kind: 'seen-in-group' }
);

export interface RedeemParts {
  codes: TypedCodes;
  invitations: Pick<Invitations, 'read' | 'close'>;
  pendingSignIns: Pick<PendingSignIns, 'read' | 'open'>;
  links: Pick<Links, 'accountOf'>;
  commitTyped: CommitTyped;
  keyRing: KeyRing;
  audit: Audit;
  tell: NotifyPerson;
  release: ReleaseHandler;
}

interface Typed {
  message: TypedMessage;
  person: ChatPerson;
  /** `personKey(person)`. */
  sender: PersonId;
  codes: [ReadCode, ...ReadCode[]];
}

/**
 * Processes a sign-in code typed in the chat (SECURITY.md typed-code). Only the invited user, in the private chat, can
 * complete a sign-in with it. Anywhere else, the code invalidates its invitation.
 * @returns undefined if the message contains no code and is to be processed normally
 * @throws IdentityError `store_away`
 */
export async function redeemTypedCode(parts: RedeemParts, message: TypedMessage): Promise<TypedOutcome | undefined> {
  const [first, ...more] = readCodes(message.text);
  if (!first) return undefined;
  const { platform, tenant, app } = message.owner;
  const person = { platform, tenant, app, chatUserId: message.chatUserId };
  const typed: Typed = { message, person, sender: personKey(person), codes: [first, ...more] };
  const before = await parts.codes.outcomeOf(typed.sender, message.messageId);
  if (before) return replayOutcome(parts, typed, before);
  return message.chatKind === 'group' ? takeFromGroup(parts, typed) : takePrivately(parts, typed);
}

async function takePrivately(parts: RedeemParts, typed: Typed): Promise<TypedOutcome | undefined> {
  const awaited = await parts.codes.awaitedFrom(typed.sender);
  const [first] = typed.codes;
  if (!awaited) return takeUnawaited(parts, typed);
  const { language } = awaited;
  if (awaited.isExpired) {
    const isThisOne = first.look !== 'plain' || macsOfCode(parts.keyRing, first.code).includes(awaited.mac);
    return isThisOne ? { kind: 'code-expired', language } : undefined;
  }
  const committed = await commit(parts, typed, awaited);
  if (committed.kind === 'gone') return (await takeUnawaited(parts, typed)) ?? { ...notAwaited, language };
  if (committed.kind === 'wrong') await invalidateAny(parts, typed);
  return outcomeOf(parts, typed, committed, language);
}

async function takeUnawaited(parts: RedeemParts, typed: Typed): Promise<TypedOutcome | undefined> {
  const [first] = typed.codes;
  if (await parts.codes.hasLinked(typed.sender, first.code))
    return outcomeOf(parts, typed, { kind: 'linked-before' }, undefined);
  return (await invalidateAny(parts, typed)) || isAsShown(first) ? notAwaited : undefined;
}

/**
 * Compares the code and creates the link in one step. The pending sign-in is decrypted beforehand, because Redis cannot do
 * it, and discarded if the code is wrong.
 */
async function commit(parts: RedeemParts, { message, codes }: Typed, awaited: AwaitedCode): Promise<TypedCommitResult> {
  const invitation = await parts.invitations.read(awaited.ticketHash);
  const cookieHash = invitation?.browser;
  const read = cookieHash === undefined ? undefined : await parts.pendingSignIns.read(cookieHash);
  if (!invitation || cookieHash === undefined || read?.quarantined.kind !== 'waiting') return { kind: 'gone' };
  const { quarantined: pending, text } = read;
  const opened = parts.pendingSignIns.open(invitation, pending);
  // Corrupt or without its key: there is no sign-in to link.
  if (opened.kind !== 'opened') return { kind: 'gone' };
  const macs = macsOfCode(parts.keyRing, codes[0].code);
  // The code may have been shown before a key rotation. If no key matches, the code is wrong.
  const mac = macs.find((one) => one === awaited.mac) ?? macs[0] ?? '';
  const request = { invitation, cookieHash, quarantineText: text, signedIn: opened.value };
  const committed = await parts.commitTyped(request, { mac, messageId: message.messageId });
  if (committed.kind === 'linked') {
    parts.audit('linked', invitation.person);
    for (const release of committed.releases) parts.release(release);
  }
  if (committed.kind === 'wrong' && committed.triesLeft === 0)
    parts.audit('link-refused', invitation.person, 'wrong-codes');
  if (committed.kind === 'already-linked' || committed.kind === 'held-elsewhere')
    reportConflict(parts, invitation.person, committed);
  return committed;
}

async function takeFromGroup(parts: RedeemParts, typed: Typed): Promise<TypedOutcome | undefined> {
  const isOne = await invalidateAny(parts, typed);
  const looksLikeOne = typed.codes.some(({ look }) => look !== 'plain');
  // Even a mistyped code counts: its owner has shown the group almost all of it.
  const isOwn = looksLikeOne && (await spoilOwnInGroup(parts, typed));
  return isOne || isOwn || isAsShown(typed.codes[0]) ? { kind: 'seen-in-group', language: undefined } : undefined;
}

/** Ends the invitations of all codes in the message and notifies their owners. */
async function invalidateAny(parts: RedeemParts, { message, sender, codes }: Typed): Promise<boolean> {
  const isInGroup = message.chatKind === 'group';
  let isAny = false;
  for (const { code } of codes) {
    const spoiled = await parts.codes.invalidate({ code, sender, messageId: message.messageId, isInGroup });
    if (!spoiled) continue;
    isAny = true;
    const owner = openOwner(parts, spoiled);
    if (!owner) continue;
    parts.audit('link-refused', owner, isInGroup ? 'code-in-group' : 'code-of-another');
    if (personKey(owner) !== sender)
      parts.tell(owner, { kind: isInGroup ? 'code-seen-in-group' : 'someone-else-signed-in' });
  }
  return isAny;
}

async function spoilOwnInGroup(parts: RedeemParts, { sender, message }: Typed): Promise<boolean> {
  const awaited = await parts.codes.awaitedFrom(sender);
  const invitation = awaited && (await parts.invitations.read(awaited.ticketHash));
  if (!invitation) return false;
  // Stored first, so that after a crash the reprocessed message still ends the invitation.
  await parts.codes.rememberSeenInGroup(sender, message.messageId);
  if (!(await parts.invitations.close(invitation, 'abused', invitation.browser ?? ''))) return false;
  parts.audit('link-refused', invitation.person, 'code-in-group');
  return true;
}

/** The owner of an invitation. Undefined if it is corrupt or its key is missing; the invitation is invalid regardless. */
function openOwner(
  { keyRing }: Pick<RedeemParts, 'keyRing'>,
  { ticketHash, sealedPerson }: InvalidatedInvitation,
): ChatPerson | undefined {
  const opened = tryOpenJson(() => keyRing.open('link-ticket', ticketHash, sealedPerson), readChatPerson);
  return opened.kind === 'opened' ? opened.value : undefined;
}

const notAwaited: TypedOutcome = { kind: 'not-awaited', language: undefined };

/**
 * Whether a code that matches no invitation is withheld from the model: only text in exactly the page's format.
 */
function isAsShown({ look, isWhole }: ReadCode): boolean {
  return isWhole && look === 'shown';
}

/** A message that was processed before keeps its outcome. Steps that a crash may have interrupted are completed. */
async function replayOutcome(parts: RedeemParts, typed: Typed, { kind, more, language }: RememberedOutcome) {
  if (kind === 'wrong') await invalidateAny(parts, typed);
  if (kind === 'seen-in-group') await takeFromGroup(parts, typed);
  const remembered = kind === 'wrong' ? { kind, triesLeft: Number(more) } : { kind };
  return outcomeOf(parts, typed, remembered as Decided, language);
}

type Decided = TypedCommitResult | { kind: 'seen-in-group' | 'not-awaited' };

async function outcomeOf(
  { links }: Pick<RedeemParts, 'links'>,
  { person }: Typed,
  committed: Decided,
  language: Language | undefined,
): Promise<TypedOutcome> {
  switch (committed.kind) {
    case 'linked':
    case 'linked-before': {
      const account = await links.accountOf(person);
      if (!account) return { ...notAwaited, language };
      const { name, accountId, linkedAtMs } = account;
      return { kind: 'linked', name, maskedId: maskId(accountId), atMs: linkedAtMs, language };
    }
    case 'wrong':
      return { kind: 'wrong', triesLeft: committed.triesLeft, language };
    case 'already-linked':
    case 'held-elsewhere':
    case 'seen-in-group':
      return { kind: committed.kind, language };
    case 'gone':
    case 'not-awaited':
      return { ...notAwaited, language };
  }
}
