import { describe, expect, test } from '@jest/globals';
import type { ConversationSummary } from '../../../../src/bot/turn/conversation/summary.ts';
import type { HistoryTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { summaryRequest } from '../../../../src/bot/turn/prompt/earlier-summary.ts';
import type { TurnContext } from '../../../../src/bot/turn/turn-context.ts';
import { conversationOf } from '../../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../../src/bot/domain/ids.ts';
import { turnOf } from '../conversation/turns.ts';
import { testKeyRing, textMessage } from '../../../support/messages.ts';

const newest = textMessage('and?');
const conversation = conversationOf(newest, 'member');
const LONG = 'word '.repeat(100);
const turns = Array.from({ length: 6 }, (_, index) =>
  turnOf({ turnId: asDeliveryId(`t${index}`), atMs: index, userText: LONG, assistantText: LONG }),
);
const covering = (coveredToMs: number): ConversationSummary => ({
  ...{ version: 1, text: 'notes', chatKind: 'private', coveredToMs },
});

interface Situation {
  dropped?: readonly HistoryTurn[];
  read?: readonly HistoryTurn[];
  /** Turns that are kept and were not read. */
  unread?: number;
  summary?: ConversationSummary;
}

/** With a budget of 5,000 tokens, where a turn takes 250. */
function requestedTurn({ dropped = [], read = turns, unread = 0, summary }: Situation): string | undefined {
  const turn = { conversation, history: read.map(() => 'sealed'), historyLength: read.length + unread };
  const context = { turn, newest } as unknown as TurnContext;
  const options = { keyRing: testKeyRing(), groupScope: 'member' as const, budgetTokens: 5_000 };
  return summaryRequest(options, context, { turns: read, droppedTurns: dropped }, summary)?.turnId;
}

describe('a summary is requested only of what a full prompt left out, and only when that is enough', () => {
  const short = turns.map((turn) => ({ ...turn, userText: 'hm', assistantText: 'yes' }));
  test.each<[string, Situation, string | undefined]>([
    ['nothing was left out', {}, undefined],
    ['two turns were', { dropped: turns.slice(0, 2) }, 't1'],
    ['one turn was, however long', { dropped: [{ ...turns[0]!, userText: LONG.repeat(20) }] }, undefined],
    ['turns of few words were', { dropped: short.slice(0, 4) }, undefined],
    ['they stand in the summary', { dropped: turns.slice(0, 3), summary: covering(2) }, undefined],
    ['one of them does not stand in it', { dropped: turns.slice(0, 3), summary: covering(1) }, undefined],
    ['two of them do not stand in it', { dropped: turns.slice(0, 3), summary: covering(0) }, 't2'],
    ['a few were not read', { unread: 9 }, undefined],
    ['many were not read', { unread: 10 }, 't0'],
    ['many were not read, and stand in the summary', { unread: 10, summary: covering(0) }, undefined],
    ['many were not read, of the conversation before', { unread: 10, read: withBegin(2) }, undefined],
    ['many were not read, and nothing that was got an answer', { unread: 10, read: unanswered() }, undefined],
  ])('%s', (_what, situation, requested) => {
    expect(requestedTurn(situation)).toBe(requested);
  });
});

function withBegin(at: number): HistoryTurn[] {
  return turns.map((turn, index) => (index === at ? { ...turn, startsAnew: true } : turn));
}

function unanswered(): HistoryTurn[] {
  return turns.map((turn) => ({ ...turn, assistantText: '' }));
}
