import { expect, test } from '@jest/globals';
import { hostileText } from '../../chaos/hostile-text.ts';
import { kindOfText } from '../../chaos/judge-text.ts';
import { conversationsIn, questionsIn } from '../../chaos/ledger.ts';
import { renderReply as renderInSlack } from '../../src/bot/platforms/slack/render-reply.ts';
import { renderReply as renderInWecom } from '../../src/bot/platforms/wecom/render-reply.ts';
import { seededRandom } from '../support/seeded-random.ts';

const WORDS = 40;

/** An answer in the format of the scripted engine, with hostile text after every word. */
function answerOf(seed: string): string {
  const random = seededRandom(seed);
  const words = Array.from(
    { length: WORDS },
    (_, word) => `S7w${word} ${word === 0 ? 'Q3 C4 ' : ''}${hostileText(random)}`,
  );
  return `${words.join('')}S7end`;
}

test('the same seed gives the same hostile text, and another seed gives another one', () => {
  expect(answerOf('one')).toBe(answerOf('one'));
  expect(answerOf('one')).not.toBe(answerOf('two'));
});

test("the test's own words are found complete and in order in the shown snapshot, whatever text is between them", () => {
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

test('each snapshot of a growing hostile answer is a prefix of it', () => {
  const text = answerOf('growing');
  for (let end = 20; end < text.length; end += 97)
    for (const render of [renderInSlack, renderInWecom]) {
      const { kind } = kindOfText(render({ text: text.slice(0, end), finished: false }));
      expect(['answer', 'empty', 'unknown']).toContain(kind);
    }
});
