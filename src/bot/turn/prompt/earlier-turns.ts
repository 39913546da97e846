import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openTurns, type HistoryTurn } from '../conversation/history.ts';
import type { GroupScope } from '../../domain/conversation.ts';
import { markOf } from '../../policy/scenes.ts';
import type { TurnContext } from '../turn-context.ts';

export interface EarlierTurnsOptions {
  keyRing: KeyRing;
  groupScope: GroupScope;
  /** After so long without a question a conversation has ended; milliseconds, 0 for never. */
  idleMs: number;
}

export interface EarlierTurns {
  /** What may enter the prompt, oldest first. */
  turns: HistoryTurn[];
  /** Nobody asked anything for so long that the conversation before this question has ended. */
  hasEnded: boolean;
  /** It has ended since another scene holds now than for its last turn. */
  isOtherScene: boolean;
}

/**
 * The conversation's earlier turns, as far as they may enter this question's prompt: those since it began anew. Where a
 * conversation is one person's, only what was said under the account that asks now: a new identity starts afresh
 * (SECURITY.md link-is-told). A shared one has many accounts. Where another scene held, the conversation before has ended.
 */
export function earlierTurns({ keyRing, groupScope, idleMs }: EarlierTurnsOptions, context: TurnContext): EarlierTurns {
  const { turn, account, replaced } = context;
  const opened = openTurns(keyRing, turn.conversation.id, turn.history);
  const begin = opened.findLastIndex(({ startsAnew }) => startsAnew === true);
  const current = opened.slice(Math.max(0, begin));
  const turns = isShared(context, groupScope)
    ? current
    : current.filter(({ accountId }) => accountId === account?.accountId);
  if (replaced?.startsAnew) return { turns: [], hasEnded: false, isOtherScene: false };
  const askedAtMs = replaced?.atMs ?? turn.startedAtMs;
  const lastAtMs = turns.at(-1)?.atMs ?? askedAtMs;
  const isIdle = idleMs > 0 && askedAtMs - lastAtMs > idleMs;
  // What another scene let an answer draw upon is not this one's (SECURITY.md scenes-narrow).
  const mark = markOf(context.scene);
  const isOtherScene = turns.some(({ scene }) => scene !== mark);
  const hasEnded = isIdle || isOtherScene;
  return { turns: hasEnded ? [] : turns, hasEnded, isOtherScene: isOtherScene && !isIdle };
}

/** Whether several people are in the conversation: a thread of a group always, all of a group where it is set so. */
export function isShared({ newest: { chat } }: Pick<TurnContext, 'newest'>, groupScope: GroupScope): boolean {
  return chat.kind === 'group' && (groupScope === 'group' || chat.threadId !== undefined);
}
