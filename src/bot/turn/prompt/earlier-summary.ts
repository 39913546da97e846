import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openSummaryOf, type ConversationSummary } from '../conversation/summary.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import { summedTokens } from '../conversation/summary-prompt.ts';
import { personIdOf, type ConversationRef, type GroupScope } from '../../domain/conversation.ts';
import type { DeliveryId, PersonId } from '../../domain/ids.ts';
import { isShared, type EarlierTurns } from './earlier-turns.ts';
import type { TurnContext } from '../turn-context.ts';

export interface SummaryScope {
  keyRing: KeyRing;
  groupScope: GroupScope;
}

/**
 * The summary of what was said before, as far as it may enter this question's prompt: as its turns may. It is of the same
 * kind of chat, where the conversation is one person's of the same account, and of nothing before the conversation began.
 */
export function earlierSummary(
  { keyRing, groupScope }: SummaryScope,
  context: TurnContext,
  { turns, hasEnded }: EarlierTurns,
): ConversationSummary | undefined {
  const { turn, newest, account } = context;
  const [first] = turns;
  if (hasEnded || !first) return undefined;
  return openSummaryOf(keyRing, turn.conversation.id, turn.summary, {
    chatKind: newest.chat.kind,
    accountId: isShared(context, groupScope) ? undefined : account?.accountId,
    beganAtMs: first.startsAnew ? first.atMs : Number.NEGATIVE_INFINITY,
  });
}

/** Something of a conversation that stands in no prompt any more and in no summary yet. */
export interface SummaryRequest {
  conversation: ConversationRef;
  /** The newest turn that is known to be missing. */
  turnId: DeliveryId;
  /** Whether the conversation has several people; else the turn's account says whose it is. */
  isShared: boolean;
  /** Who asked the question that needs it: their pseudonym. It is they whom it is counted for, in a group too. */
  personId?: PersonId;
}

/** Of a prompt's budget so much has to be missing before it is summed up: a summary is a request of its own. */
const LEAST_SHARE = 0.1;
const LEAST_TURNS = 2;
/** So many turns that were not even read, whatever they take. */
const LEAST_UNREAD_TURNS = 10;

/**
 * What a full prompt had to leave out. A turn that got no answer is no part of any prompt and no reason, and neither are
 * images that their own budget left out.
 * @param built the prompt as it was made first: turns, and those that the budget of tokens left out
 * @returns undefined where the conversation stands in the prompt or in its summary, but for a little
 */
export function summaryRequest(
  { groupScope, budgetTokens }: Pick<SummaryScope, 'groupScope'> & { budgetTokens: number },
  context: TurnContext,
  { turns, droppedTurns }: { turns: readonly HistoryTurn[]; droppedTurns: readonly HistoryTurn[] },
  summary: ConversationSummary | undefined,
): SummaryRequest | undefined {
  const { conversation } = context.turn;
  const personId = personIdOf(context.newest, context.newest.sender.userId);
  const isMissing = ({ atMs }: HistoryTurn) => summary === undefined || atMs > summary.coveredToMs;
  const requestFor = ({ turnId }: HistoryTurn) => ({
    conversation,
    turnId,
    isShared: isShared(context, groupScope),
    personId,
  });
  const missing = droppedTurns.filter(isMissing);
  const missingTokens = missing.reduce((sum, turn) => sum + summedTokens(turn), 0);
  const newest = missing.at(-1);
  if (newest && missing.length >= LEAST_TURNS && missingTokens >= budgetTokens * LEAST_SHARE) return requestFor(newest);
  const first = firstAfterUnread(context.turn, turns);
  return first && isMissing(first) ? requestFor(first) : undefined;
}

/** Where many more turns are kept than were read, those before the first one that was stand in no prompt. */
function firstAfterUnread(
  { history, historyLength }: TurnContext['turn'],
  turns: readonly HistoryTurn[],
): HistoryTurn | undefined {
  const isAll = historyLength - history.length < LEAST_UNREAD_TURNS || turns.some(({ startsAnew }) => startsAnew);
  return isAll ? undefined : turns.find(({ assistantText }) => assistantText !== '');
}
