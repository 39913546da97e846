import { ifOpens } from '../../base/key-ring.ts';
import type { Language } from '../../base/texts.ts';
import { personKey, type ChatPerson, type PersonOwner } from '../account.ts';
import type { CommittedTyped } from '../links/commit-link.ts';
import type { SignInFlow } from '../browser/flow.ts';
import { reportConflict } from '../browser/link-conflict.ts';
import { maskId } from '../mask.ts';
import { openSignedIn } from '../tickets/pending-sign-ins.ts';
import { macsOfCode } from './make-code.ts';
import { readCodes, type ReadCode } from './read-codes.ts';
import type { AwaitedCode, RememberedOutcome, InvalidatedTicket } from './typed-codes.ts';

/** A chat message, as far as a typed code matters. */
export interface TypedMessage {
  owner: PersonOwner;
  chatUserId: string;
  chatKind: 'private' | 'group';
  text: string;
  /** Stays the same when the message is handled again: then the outcome does too. */
  messageId: string;
}

/** What became of a message that held a code. Whatever it is, the message goes no further. */
export type TypedOutcome = { language: Language | undefined } & (
  | { kind: 'linked'; name: string; maskedId: string; atMs: number }
  | { kind: 'wrong'; triesLeft: number }
  | { kind: 'code-expired' | 'already-linked' | 'held-elsewhere' }
  /** Nobody awaits a code here. If it was somebody else's, it is of no use any more, and they were told. */
  | { kind: 'not-awaited' }
  /** Codes belong in the private chat; if this was one, it is of no use any more. */
  | { kind: 'seen-in-group' }
);

interface Typed {
  message: TypedMessage;
  person: ChatPerson;
  /** `personKey(person)`. */
  sender: string;
  codes: [ReadCode, ...ReadCode[]];
}

/**
 * Takes a sign-in code out of the chat (SECURITY.md typed-code). Only the ticket's own person, in the private chat, can
 * finish a sign-in with it; anywhere else it spoils the ticket that it belongs to.
 * @returns undefined when the message holds no code and goes its ordinary way
 * @throws IdentityError `store_away`
 */
export async function redeemTypedCode(flow: SignInFlow, message: TypedMessage): Promise<TypedOutcome | undefined> {
  const [first, ...more] = readCodes(message.text);
  if (!first) return undefined;
  const { platform, tenant, app } = message.owner;
  const person = { platform, tenant, app, chatUserId: message.chatUserId };
  const typed: Typed = { message, person, sender: personKey(person), codes: [first, ...more] };
  const before = await flow.codes.outcomeOf(typed.sender, message.messageId);
  if (before) return takeAgain(flow, typed, before);
  return message.chatKind === 'group' ? takeFromGroup(flow, typed) : takePrivately(flow, typed);
}

async function takePrivately(flow: SignInFlow, typed: Typed): Promise<TypedOutcome | undefined> {
  const awaited = await flow.codes.awaitedFrom(typed.sender);
  const [first] = typed.codes;
  if (!awaited) return takeUnawaited(flow, typed);
  const { language } = awaited;
  if (awaited.isOver) {
    const isThisOne = first.look !== 'plain' || macsOfCode(flow.keyRing, first.code).includes(awaited.mac);
    return isThisOne ? { kind: 'code-expired', language } : undefined;
  }
  const committed = await commit(flow, typed, awaited);
  if (committed.kind === 'gone') return (await takeUnawaited(flow, typed)) ?? { ...notAwaited, language };
  if (committed.kind === 'wrong') await invalidateAny(flow, typed);
  return outcomeOf(flow, typed, committed, language);
}

async function takeUnawaited(flow: SignInFlow, typed: Typed): Promise<TypedOutcome | undefined> {
  const [first] = typed.codes;
  if (await flow.codes.hasLinked(typed.sender, first.code))
    return outcomeOf(flow, typed, { kind: 'linked-before' }, undefined);
  return (await invalidateAny(flow, typed)) || isAsShown(first) ? notAwaited : undefined;
}

/** Compares and links in one step. The quarantine is opened before, since only we can, and thrown away if the code is wrong. */
async function commit(flow: SignInFlow, { message, codes }: Typed, awaited: AwaitedCode): Promise<CommittedTyped> {
  const ticket = await flow.tickets.read(awaited.ticketHash);
  const cookieHash = ticket?.browser;
  const read = cookieHash === undefined ? undefined : await flow.pendingSignIns.read(cookieHash);
  if (!ticket || cookieHash === undefined || read?.quarantined.kind !== 'waiting') return { kind: 'gone' };
  const { quarantined: pending, text } = read;
  const signedIn = ifOpens(() => openSignedIn(flow, ticket, pending));
  if (!signedIn) return { kind: 'gone' };
  const macs = macsOfCode(flow.keyRing, codes[0].code);
  // The key that the code was shown under may have become an older one since; any other is a wrong code.
  const mac = macs.find((one) => one === awaited.mac) ?? macs[0] ?? '';
  const request = { ticket, cookieHash, quarantineText: text, signedIn };
  const committed = await flow.commitTyped(request, { mac, messageId: message.messageId });
  if (committed.kind === 'linked') {
    flow.audit('linked', ticket.person);
    for (const release of committed.releases) flow.release(release);
  }
  if (committed.kind === 'wrong' && committed.triesLeft === 0) flow.audit('link-refused', ticket.person, 'wrong-codes');
  if (committed.kind === 'already-linked' || committed.kind === 'held-elsewhere')
    reportConflict(flow, ticket.person, committed);
  return committed;
}

async function takeFromGroup(flow: SignInFlow, typed: Typed): Promise<TypedOutcome | undefined> {
  const isOne = await invalidateAny(flow, typed);
  const looksLikeOne = typed.codes.some(({ look }) => look !== 'plain');
  // Mistyped or not: a person who awaits a code and writes one into a group has shown it to everybody there.
  const isOwn = looksLikeOne && (await spoilOwnInGroup(flow, typed));
  return isOne || isOwn || isAsShown(typed.codes[0]) ? { kind: 'seen-in-group', language: undefined } : undefined;
}

/** Ends the tickets that the codes in the message belong to, and tells their owners. */
async function invalidateAny(flow: SignInFlow, { message, sender, codes }: Typed): Promise<boolean> {
  const isInGroup = message.chatKind === 'group';
  let isAny = false;
  for (const { code } of codes) {
    const spoiled = await flow.codes.invalidate({ code, sender, messageId: message.messageId, isInGroup });
    if (!spoiled) continue;
    isAny = true;
    const owner = ifOpens(() => openOwner(flow, spoiled));
    if (!owner) continue;
    flow.audit('link-refused', owner, isInGroup ? 'code-in-group' : 'code-of-another');
    if (personKey(owner) !== sender)
      flow.tell(owner, { kind: isInGroup ? 'code-seen-in-group' : 'someone-else-signed-in' });
  }
  return isAny;
}

async function spoilOwnInGroup(flow: SignInFlow, { sender, message }: Typed): Promise<boolean> {
  const awaited = await flow.codes.awaitedFrom(sender);
  const ticket = awaited && (await flow.tickets.read(awaited.ticketHash));
  if (!ticket) return false;
  // Remembered first: handled again after a crash, the message ends the ticket then.
  await flow.codes.rememberSeenInGroup(sender, message.messageId);
  if (!(await flow.tickets.close(ticket, 'abused', ticket.browser ?? ''))) return false;
  flow.audit('link-refused', ticket.person, 'code-in-group');
  return true;
}

function openOwner({ keyRing }: SignInFlow, { ticketHash, sealedPerson }: InvalidatedTicket): ChatPerson {
  return JSON.parse(keyRing.open('link-ticket', ticketHash, sealedPerson)) as ChatPerson;
}

const notAwaited: TypedOutcome = { kind: 'not-awaited', language: undefined };

/** Nobody awaits it, and it is nobody's: only what stands there just as our page shows codes is kept from the model. */
function isAsShown({ look, isWhole }: ReadCode): boolean {
  return isWhole && look === 'shown';
}

/** A message that was handled before: what was decided stays, and what a crash may have left undone is done. */
async function takeAgain(flow: SignInFlow, typed: Typed, { kind, more, language }: RememberedOutcome) {
  if (kind === 'wrong') await invalidateAny(flow, typed);
  if (kind === 'seen-in-group') await takeFromGroup(flow, typed);
  const remembered = kind === 'wrong' ? { kind, triesLeft: Number(more) } : { kind };
  return outcomeOf(flow, typed, remembered as Decided, language);
}

type Decided = CommittedTyped | { kind: 'seen-in-group' | 'not-awaited' };

async function outcomeOf(
  { linkedAs }: SignInFlow,
  { person }: Typed,
  committed: Decided,
  language: Language | undefined,
): Promise<TypedOutcome> {
  switch (committed.kind) {
    case 'linked':
    case 'linked-before': {
      const account = await linkedAs(person);
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
