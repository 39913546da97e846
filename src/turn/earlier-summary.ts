import type { KeyRing } from '../base/key-ring.ts';
import { openSummary, type ConversationSummary } from '../conversation/summary.ts';
import type { HistoryTurn } from '../conversation/history.ts';
import type { ConversationRef, GroupScope } from '../platforms/conversation-key.ts';
import { isShared, type EarlierTurns } from './earlier-turns.ts';
import type { TurnScene } from './run-turn.ts';

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
  scene: TurnScene,
  { turns, hasEnded }: EarlierTurns,
): ConversationSummary | undefined {
  const { turn, newest, account } = scene;
  const [first] = turns;
  if (hasEnded || !first) return undefined;
  const summary = openSummary(keyRing, turn.conversation.id, turn.summary);
  if (summary?.chatKind !== newest.chat.kind) return undefined;
  if (summary.accountId !== (isShared(scene, groupScope) ? undefined : account?.accountId)) return undefined;
  const isOfAnother = first.startsAnew === true && summary.coveredToMs < first.atMs;
  return isOfAnother ? undefined : summary;
}

/** Something of a conversation that stands in no prompt any more and in no summary yet. */
export interface SummaryWish {
  conversation: ConversationRef;
  /** The newest turn that is known to be missing. */
  turnId: string;
  /** Whether the conversation has several people; else the turn's account says whose it is. */
  isShared: boolean;
}

/** @returns undefined where all of the conversation stands in the prompt or in its summary */
export function summaryWish(
  { groupScope }: SummaryScope,
  scene: TurnScene,
  { turns, droppedTurns }: { turns: readonly HistoryTurn[]; droppedTurns: readonly HistoryTurn[] },
  summary: ConversationSummary | undefined,
): SummaryWish | undefined {
  const { turn } = scene;
  const newest = droppedTurns.at(-1) ?? firstOfMany(turn, turns);
  if (!newest || (summary && summary.coveredToMs >= newest.atMs)) return undefined;
  return { conversation: turn.conversation, turnId: newest.turnId, isShared: isShared(scene, groupScope) };
}

/** Where more turns are kept than were read, those before the first one stand in no prompt. */
function firstOfMany(
  { history, historyLength }: TurnScene['turn'],
  turns: readonly HistoryTurn[],
): HistoryTurn | undefined {
  const isAll = historyLength <= history.length || turns.some(({ startsAnew }) => startsAnew === true);
  return isAll ? undefined : turns.find(({ assistantText }) => assistantText !== '');
}
