import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openTurns, type HistoryTurn } from '../conversation/history.ts';
import { openSummaryOf, type ConversationSummary } from '../conversation/summary.ts';
import { summedTokens } from '../conversation/summary-prompt.ts';
import type { ConversationRef, GroupScope } from '../../domain/conversation.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import { sceneFingerprint } from '../../policy/scenes.ts';
import type { TurnContext } from '../turn-context.ts';

export interface EarlierConversationOptions {
  keyRing: KeyRing;
  groupScope: GroupScope;
  /** Time without a question after which a conversation ends. Milliseconds; 0 for never. */
  idleMs: number;
}

/** The part of the conversation before a question that its prompt may contain. */
export interface EarlierConversation {
  /** Oldest first. */
  turns: HistoryTurn[];
  /** Summary of the turns before these. */
  summary: ConversationSummary | undefined;
  /** Why the previous conversation has ended: no question for too long, or another scene. Then there are no turns. */
  ended?: 'conversationEnded' | 'otherScene';
  /** Whether the conversation has several people: always in a group thread, in the whole group only if configured. */
  isShared: boolean;
}

/**
 * Earlier turns of the conversation that the prompt of this question may contain: those since it began. If a conversation
 * belongs to one person, only turns of the current account: a new identity starts a new conversation
 * (SECURITY.md link-is-told). A shared conversation has many accounts. A change of scene ends the conversation.
 */
export function earlierConversation(
  { keyRing, groupScope, idleMs }: EarlierConversationOptions,
  { turn, account, replaced, scene, newest: { chat } }: TurnContext,
): EarlierConversation {
  const isShared = chat.kind === 'group' && (groupScope === 'group' || chat.threadId !== undefined);
  const opened = openTurns(keyRing, turn.conversation.id, turn.history);
  const begin = opened.findLastIndex(({ startsAnew }) => startsAnew === true);
  const current = opened.slice(Math.max(0, begin));
  const turns = isShared ? current : current.filter(({ accountId }) => accountId === account?.accountId);
  if (replaced?.startsAnew) return { turns: [], summary: undefined, isShared };
  const askedAtMs = replaced?.atMs ?? turn.startedAtMs;
  const lastAtMs = turns.at(-1)?.atMs ?? askedAtMs;
  if (idleMs > 0 && askedAtMs - lastAtMs > idleMs)
    return { turns: [], summary: undefined, ended: 'conversationEnded', isShared };
  // Sources available to another scene must not leak into this one (SECURITY.md scenes-narrow).
  const mark = sceneFingerprint(scene);
  if (turns.some((one) => one.scene !== mark)) return { turns: [], summary: undefined, ended: 'otherScene', isShared };
  const [first] = turns;
  if (!first) return { turns, summary: undefined, isShared };
  // Under the same conditions as the turns.
  const summary = openSummaryOf(keyRing, turn.conversation.id, turn.summary, {
    chatKind: chat.kind,
    accountId: isShared ? undefined : account?.accountId,
    beganAtMs: first.startsAnew ? first.atMs : Number.NEGATIVE_INFINITY,
  });
  return { turns, summary, isShared };
}

/** Requests a summary of turns that are neither in a prompt nor in a summary. */
export interface SummaryRequest {
  conversation: ConversationRef;
  /** The newest turn that is known to be missing. */
  turnId: DeliveryId;
  /** Whether the conversation has several people; otherwise the turn's account identifies its owner. */
  isShared: boolean;
  /** Pseudonym of the person whose question requires the summary. Its usage is counted for this person, in a group too. */
  personId?: PersonId;
}

/**
 * Minimum share of a prompt's budget that must be missing before a summary is requested, since a summary is a separate
 * request.
 */
const MIN_SHARE = 0.1;
const MIN_TURNS = 2;
/** Minimum number of turns that were not read at all, whatever their size. */
const MIN_UNREAD_TURNS = 10;

/**
 * Requests a summary of the turns that a full prompt omitted. Turns without an answer are not part of any prompt and do not
 * count, and neither do images omitted by their own budget.
 * @param droppedTurns the turns that the first version of the prompt omitted because of the token budget
 * @returns undefined if the prompt and its summary contain nearly the whole conversation
 */
export function summaryRequest(
  { turn, personId }: { turn: TurnContext['turn']; personId: PersonId },
  { turns, summary, isShared }: EarlierConversation,
  { droppedTurns, budgetTokens }: { droppedTurns: readonly HistoryTurn[]; budgetTokens: number },
): SummaryRequest | undefined {
  const { conversation } = turn;
  const isMissing = ({ atMs }: HistoryTurn) => summary === undefined || atMs > summary.coveredToMs;
  const requestFor = ({ turnId }: HistoryTurn) => ({ conversation, turnId, isShared, personId });
  const missing = droppedTurns.filter(isMissing);
  const missingTokens = missing.reduce((sum, one) => sum + summedTokens(one), 0);
  const last = missing.at(-1);
  if (last && missing.length >= MIN_TURNS && missingTokens >= budgetTokens * MIN_SHARE) return requestFor(last);
  const first = firstAfterUnread(turn, turns);
  return first && isMissing(first) ? requestFor(first) : undefined;
}

/** If many stored turns were not read, those before the first turn that was read are in no prompt. */
function firstAfterUnread(
  { history, historyLength }: TurnContext['turn'],
  turns: readonly HistoryTurn[],
): HistoryTurn | undefined {
  const isAll = historyLength - history.length < MIN_UNREAD_TURNS || turns.some(({ startsAnew }) => startsAnew);
  return isAll ? undefined : turns.find(({ assistantText }) => assistantText !== '');
}
