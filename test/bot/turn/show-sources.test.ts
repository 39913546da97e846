import { expect, test } from '@jest/globals';
import { sealTurn, type HistoryTurn } from '../../../src/bot/turn/conversation/history.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import { asAccountId, asDeliveryId } from '../../../src/bot/domain/ids.ts';
import { showSources } from '../../../src/bot/turn/commands/run-slash-word.ts';
import type { TurnContext } from '../../../src/bot/turn/turn-context.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';

const keyRing = testKeyRing();
const OWN = asAccountId('own');
const OTHER = asAccountId('other');

function shown(turns: Partial<HistoryTurn>[], accountId = OWN, kind: 'private' | 'group' = 'private'): string {
  const newest = textMessage('/sources', kind === 'group' ? { chat: { kind, id: 'g1' } } : {});
  const conversation = conversationOf(newest, 'member');
  const history = turns.map((turn, index) =>
    sealTurn(keyRing, conversation.id, {
      ...{ version: 1, turnId: asDeliveryId(`t${index}`), atMs: index, accountId: OWN },
      ...{ userText: 'Where?', images: 0, assistantText: 'There [1].', ...turn },
    }),
  );
  const context = { newest, turn: { conversation, history }, question: { language: 'en' } } as unknown as TurnContext;
  return showSources(keyRing, context, accountId).text;
}

const GUIDE = { number: 1, source: 'Campus', title: 'Guide', isCited: true as const };
const NOTES = { number: 2, source: 'Campus', title: 'Notes' };

test('/sources lists what the last answer cites, or what was found when it cites nothing', () => {
  expect(shown([{ sources: [GUIDE, NOTES] }])).toBe('My last answer is based on:\n\n- [1] Guide');
  expect(shown([{ sources: [NOTES] }])).toMatch(/^My last answer does not cite .*\n\n- \[2\] Notes$/);
});

test('/sources uses the last answer, not an earlier one, and skips an unanswered question', () => {
  expect(shown([{ sources: [GUIDE] }, {}])).toMatch(/is not based on any/);
  expect(shown([{ sources: [GUIDE] }, { assistantText: '' }])).toContain('Guide');
});

test('/sources hides the sources of another account, but not in a group [knowledge-rights]', () => {
  expect(shown([{ sources: [GUIDE] }], OTHER)).toMatch(/is not based on any/);
  expect(shown([{ sources: [GUIDE] }], OTHER, 'group')).toContain('Guide');
});
