import { expect, test } from '@jest/globals';
import { hostileText } from '../../chaos/hostile-text.ts';
import { kindOfText } from '../../chaos/judge-text.ts';
import { conversationsIn, questionsIn } from '../../chaos/ledger.ts';
import { renderReply as renderInSlack } from '../../src/bot/platforms/slack/render-reply.ts';
import { renderReply as renderInWecom } from '../../src/bot/platforms/wecom/render-reply.ts';
import { seededRandom } from '../support/seeded-random.ts';

const WORDS = 40;

/** An answer as the stand-in writes it, with hostile text behind every word. */
function answerOf(seed: string): string {
  const random = seededRandom(seed);
  const words = Array.from(
    { length: WORDS },
    (_, word) => `S7w${word} ${word === 0 ? 'Q3 C4 ' : ''}${hostileText(random)}`,
  );
  return `${words.join('')}S7end`;
}

test('the same seed writes the same hostile text, another seed another', () => {
  expect(answerOf('one')).toBe(answerOf('one'));
  expect(answerOf('one')).not.toBe(answerOf('two'));
});

test('whatever stands between them, the rig’s own words are found in the snapshot that a platform shows, whole and in their order', () => {
  for (let seed = 0; seed < 150; seed += 1) {
    const text = answerOf(`hostile ${seed}`);
    for (const render of [renderInSlack, renderInWecom]) {
      const shown = render({ text, finished: true });
      expect({ seed, ...kindOfText(shown) }).toEqual({ seed, kind: 'answer', sampling: 7, isWhole: true });
      expect(questionsIn(shown)).toEqual([3]);
      expect(conversationsIn(shown)).toEqual([4]);
    }
  }
});

test('while such an answer grows, each look of it is a part from the beginning', () => {
  const text = answerOf('growing');
  for (let end = 20; end < text.length; end += 97)
    for (const render of [renderInSlack, renderInWecom]) {
      const { kind } = kindOfText(render({ text: text.slice(0, end), finished: false }));
      expect(['answer', 'empty', 'unknown']).toContain(kind);
    }
});
