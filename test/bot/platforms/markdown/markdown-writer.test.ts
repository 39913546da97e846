import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { tries } from '../../../support/tries.ts';
import { measureProcessorTime } from '../../../support/processor-time.ts';

const ROOM_BYTES = 100_000;
const wecom = createMarkdownWriter(WECOM_DIALECT);
const slack = createMarkdownWriter(SLACK_DIALECT);

/** Markdown as models write it, without harmful parts. */
const word = fc.constantFrom(
  'word',
  '你好',
  '3.5',
  'a*b',
  'x < y',
  'a_b_c',
  'R&D',
  '🙂',
  'v[0]',
  'https://x.test/a',
  'me@x.test',
);
const signed = fc.constantFrom(
  '**bold**',
  '*it*',
  '`co de`',
  '~~no~~',
  '[docs](https://x.test/a?b=1)',
  '***both***',
  '\\*',
  '``a`b``',
);
const sentence = fc
  .array(fc.oneof(word, signed), { minLength: 1, maxLength: 12 })
  .map((words) => `${words.join(' ')}.`);
const block = fc.oneof(
  sentence,
  sentence.map((text) => `## ${text}`),
  fc.array(sentence, { minLength: 1, maxLength: 4 }).map((items) => items.map((item) => `- ${item}`).join('\n')),
  fc
    .array(sentence, { minLength: 1, maxLength: 3 })
    .map((items) => items.map((item, n) => `${n + 1}. ${item}`).join('\n')),
  sentence.map((text) => `> ${text}\n> ${text}`),
  fc.tuple(word, word).map(([a, b]) => `| ${a} | ${b} |\n| --- | :-: |\n| ${b} | ${a} |\n| 1 | 2 |`),
  fc.array(word, { maxLength: 5 }).map((lines) => `\`\`\`ts\n${lines.join('\n')}\n\`\`\``),
  fc.constant('---'),
);
const answer = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => `${blocks.join('\n\n')}\n`);

describe('finished markdown', () => {
  test('is byte for byte the harmless text of the model, whole and in pieces', () => {
    fc.assert(
      fc.property(answer, (text) => {
        for (const writer of [wecom, slack]) {
          expect(writer.renderFinished(text, ROOM_BYTES)).toBe(text);
          expect(writer.split(text, ROOM_BYTES)).toEqual([text]);
        }
      }),
      { numRuns: tries(200) },
    );
  });

  test('keeps incomplete markup without closing it or holding it back', () => {
    for (const text of [
      'half a **wor',
      'a [link](https://x.te',
      '```js\nlet open',
      '| a |\n|--',
      'at @al',
      '1.',
      'a `b',
      '[x',
    ]) {
      expect(wecom.renderFinished(text, ROOM_BYTES)).toBe(text);
      expect(slack.renderFinished(text, ROOM_BYTES)).toBe(text);
    }
  });
});

describe('streamed markdown', () => {
  test.each([
    ['half a **wor', 'half a **wor**', 'half a '],
    ['half a **', 'half a ', 'half a '],
    ['**bold*', '**bold**', ''],
    ['all **bold** now', 'all **bold** now', 'all **bold** now'],
    ['*so ', '*so*', ''],
    ['2 * 3 and a*b', '2 * 3 and a*b', '2 * 3 and a*b'],
    ['run `npm i', 'run `npm i`', 'run '],
    ['see [the do', 'see ', 'see '],
    ['see [the docs](https://x.te', 'see ', 'see '],
    ['see [the docs](https://x.test)', 'see [the docs](https://x.test)', 'see [the docs](https://x.test)'],
    ['see ![a cat](https', 'see ', 'see '],
    ['so:\n```js\nlet a', 'so:\n```js\nlet a\n```', 'so:\n```js\nlet a'],
    ['so:\n```j', 'so:\n', 'so:\n'],
    ['so:\n``', 'so:\n', 'so:\n'],
    ['```js\nlet a\n``', '```js\nlet a\n```', '```js\nlet a\n'],
    ['> ```\n> a', '> ```\n> a\n> ```', '> ```\n> a'],
    ['| a | b |', '', ''],
    ['T:\n\n| a | b |\n|--', 'T:\n\n', 'T:\n\n'],
    ['| a | b |\n|---|---|\n| 1', '| a | b |\n|---|---|\n', '| a | b |\n|---|---|\n'],
    ['| a | b |\n|---|---|\n| 1 | 2 |\n', '| a | b |\n|---|---|\n| 1 | 2 |\n', '| a | b |\n|---|---|\n| 1 | 2 |\n'],
    ['one\n-', 'one\n', 'one\n'],
    ['one\n\n## ', 'one\n\n', 'one\n\n'],
    ['ask @al', 'ask ', 'ask '],
    ['half a <b', 'half a ', 'half a '],
    ['你好 **世', '你好 **世**', '你好 '],
    ['🙂\ud83d', '🙂', '🙂'],
    ['<think>hm', '', ''],
    ['<think>hm</think>\nYes', 'Yes', 'Yes'],
  ])('closes incomplete markup on WeCom and holds it back on Slack: %j', (text, shownInWecom, shownInSlack) => {
    expect(wecom.renderGrowing(text, ROOM_BYTES)).toBe(shownInWecom);
    expect(slack.renderGrowing(text, ROOM_BYTES)).toBe(shownInSlack);
  });

  test('begins with the previous snapshot on Slack, and the finished text begins with the last one', () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 9 }), (text, stepChars) => {
        let before = '';
        for (let end = stepChars; end < text.length; end += stepChars) {
          const snapshot = slack.renderGrowing(text.slice(0, end), ROOM_BYTES);
          expect(snapshot.startsWith(before)).toBe(true);
          before = snapshot;
        }
        expect(text.startsWith(before)).toBe(true);
      }),
      { numRuns: tries(80) },
    );
  });

  test('begins with the previous snapshot on Slack after each character of nested lists, linked images and emphasis', () => {
    const image = '![alt](https://x.test/i.png)';
    const piece = fc.oneof(
      fc.constantFrom('word ', '你好', 'see [docs](https://x.test/a?b=1) ', '`co de` ', '[x] '),
      fc.constantFrom('- a\n  ', '- a\n  - b\n', '1. a\n   b\n', '> a\n> ', 'Done!', 'So!\n', '\n\n', ' '),
      fc.constantFrom('a*b word.', '**bold**.', '*it* ', '~~old~~ ', ' _so_ ', '**词。**', '2*3 '),
      fc.constantFrom(image, `[${image}](https://x.test/p)`, `[see ${image} here](https://x.test/p)`),
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
        const text = pieces.join('');
        let before = '';
        for (let end = 1; end <= text.length; end += 1) {
          const snapshot = slack.renderGrowing(text.slice(0, end), ROOM_BYTES);
          if (!snapshot.startsWith(before))
            expect([text.slice(0, end), snapshot]).toEqual([text.slice(0, end), before]);
          before = snapshot;
        }
        expect(slack.renderFinished(text, ROOM_BYTES).startsWith(before)).toBe(true);
      }),
      { numRuns: tries(60) },
    );
  });

  test('holds back at most 160 characters and adds at most 8', () => {
    fc.assert(
      fc.property(answer, fc.double({ min: 0, max: 1, noNaN: true }), (text, share) => {
        const sofar = text.slice(0, Math.floor(text.length * share));
        const snapshots = [wecom.renderGrowing(sofar, ROOM_BYTES), slack.renderGrowing(sofar, ROOM_BYTES)];
        for (const snapshot of snapshots) {
          let same = 0;
          while (same < sofar.length && snapshot[same] === sofar[same]) same += 1;
          expect(sofar.length - same).toBeLessThanOrEqual(160);
          expect(snapshot.length - same).toBeLessThanOrEqual(8);
        }
      }),
      { numRuns: tries(200) },
    );
  });
});

describe('thinking tags in the text', () => {
  test.each([
    ['<think>The user asks.</think>\n\nYes.', 'Yes.'],
    ['<thinking>\nHm.\n\nHm.\n</thinking>\nYes.', 'Yes.'],
    ['One.\n<think>more</think>\nTwo.', 'One.\nTwo.'],
    ['<th\u200bink>plan</think>好。', '好。'],
    ['<think>never ends', ''],
    ['Use `<think>` for it.', 'Use `＜think>` for it.'],
    ['```xml\n<think>a</think>\n```', '```xml\n＜think>a＜/think>\n```'],
    ['Said.\n<think> begins a thought.', 'Said.\n＜think> begins a thought.'],
  ])('are removed with their thought, or neutralised outside of one: %j', (text, shown) => {
    expect(wecom.renderFinished(text, ROOM_BYTES)).toBe(shown);
  });
});

test('writes text built to slow the parser in under 2 s of processor time, in pieces that fit', () => {
  for (const unit of ['[a](', '1. ', '> ', '*a_', '![', '[](', '`a``', '<b ']) {
    const text = unit.repeat(Math.floor(30_000 / unit.length));
    const spentMs = measureProcessorTime();
    expect(Buffer.byteLength(wecom.renderGrowing(text, 20_480))).toBeLessThanOrEqual(20_480);
    for (const piece of wecom.split(text, 20_480)) expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(20_480);
    // Without the parser limits, such a text takes seconds.
    expect(spentMs()).toBeLessThan(2_000);
  }
});
