import { describe, expect, test } from '@jest/globals';
import type { ConversationSummary } from '../../../../src/bot/turn/conversation/summary.ts';
import type { HistoryTurn } from '../../../../src/bot/turn/conversation/history.ts';
import { summaryRequest } from '../../../../src/bot/turn/prompt/earlier-conversation.ts';
import { conversationOf, personIdOf } from '../../../../src/bot/domain/conversation.ts';
import { asDeliveryId } from '../../../../src/bot/domain/ids.ts';
import type { TurnClaim } from '../../../../src/bot/domain/turn.ts';
import { turnOf } from '../conversation/turns.ts';
import { textMessage } from '../../../support/messages.ts';

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
  /** Stored turns that were not read. */
  unread?: number;
  summary?: ConversationSummary;
}

/** The budget is 5,000 tokens, and a turn takes 250. */
function requestedTurn({ dropped = [], read = turns, unread = 0, summary }: Situation): string | undefined {
  const turn = { conversation, history: read.map(() => 'sealed'), historyLength: read.length + unread };
  const request = { turn: turn as unknown as TurnClaim, personId: personIdOf(newest, newest.sender.userId) };
  const earlier = { turns: [...read], summary, isShared: false };
  return summaryRequest(request, earlier, { droppedTurns: dropped, budgetTokens: 5_000 })?.turnId;
}

describe('the summary request of a turn', () => {
  const short = turns.map((turn) => ({ ...turn, userText: 'hm', assistantText: 'yes' }));
  test.each<[string, Situation, string | undefined]>([
    ['nothing was left out', {}, undefined],
    ['two turns were left out', { dropped: turns.slice(0, 2) }, 't1'],
    ['one turn of any length was left out', { dropped: [{ ...turns[0]!, userText: LONG.repeat(20) }] }, undefined],
    ['only short turns were left out', { dropped: short.slice(0, 4) }, undefined],
    ['the summary contains all left-out turns', { dropped: turns.slice(0, 3), summary: covering(2) }, undefined],
    ['the summary lacks one left-out turn', { dropped: turns.slice(0, 3), summary: covering(1) }, undefined],
    ['the summary lacks two left-out turns', { dropped: turns.slice(0, 3), summary: covering(0) }, 't2'],
    ['a few turns were not read', { unread: 9 }, undefined],
    ['many turns were not read', { unread: 10 }, 't0'],
    ['many turns were not read, and the summary contains them', { unread: 10, summary: covering(0) }, undefined],
    ['many turns of the previous conversation were not read', { unread: 10, read: withBegin(2) }, undefined],
    ['many turns were not read, and those read have no answer', { unread: 10, read: unanswered() }, undefined],
  ])('is as expected when %s', (_what, situation, requested) => {
    expect(requestedTurn(situation)).toBe(requested);
  });
});

function withBegin(at: number): HistoryTurn[] {
  return turns.map((turn, index) => (index === at ? { ...turn, startsAnew: true } : turn));
}

function unanswered(): HistoryTurn[] {
  return turns.map((turn) => ({ ...turn, assistantText: '' }));
}
