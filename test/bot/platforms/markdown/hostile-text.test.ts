import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { faultsIn, hostileText, LIVE_MARK, OWN_MARK, tokensOf } from './hostile-text.ts';
import { tries } from '../../../support/tries.ts';

const ROOM_BYTES = 100_000;

describe.each([
  ['wecom', WECOM_DIALECT],
  ['slack', SLACK_DIALECT],
] as const)('hostile text on %s', (name, dialect) => {
  const isHarmless = (shown: string): void => {
    expect(shown).not.toMatch(LIVE_MARK);
    expect(shown).not.toMatch(OWN_MARK[name]);
    expect(faultsIn(shown)).toEqual([]);
  };

  test('leaves no active markup, hidden link, image or HTML, and is unchanged by a second rendering [harmless-marks] [honest-links]', () => {
    const writer = createMarkdownWriter(dialect);
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = writer.renderFinished(text, ROOM_BYTES);
        isHarmless(shown);
        expect(writer.renderFinished(shown, ROOM_BYTES)).toBe(shown);
      }),
      { numRuns: tries(200) },
    );
  });

  test.each([
    '[a][<javascript:x>]',
    '![][\n@\n<javascript:x>]:',
    'see [a][b <mailto:x@y.test> c] and [d][<b>]',
    '> [a][\n> <javascript:x>]',
    '| a |\n|---|\n| [a][<javascript:x>] |',
  ])('is shown as prose where it references an undefined link: %j [honest-links]', (text) => {
    const writer = createMarkdownWriter(dialect);
    for (const shown of [
      writer.renderFinished(text, 128),
      writer.renderGrowing(text, 128),
      ...writer.split(text, 128),
    ]) {
      isHarmless(shown);
      expect(writer.renderFinished(shown, 128)).toBe(shown);
    }
    expect(writer.renderFinished('grid[row][column]', 128)).toBe('grid[row][column]');
  });

  test('does not grow without limit from many references to one long address [honest-links]', () => {
    const address = `https://example.org/${'x'.repeat(1_000)}`;
    const text = `${'[a] and '.repeat(300)}\n\n[a]: ${address}`;
    const shown = createMarkdownWriter(dialect).renderFinished(text, ROOM_BYTES);
    isHarmless(shown);
    expect(shown.split(`[a](${address})`)).toHaveLength(20);
    expect(shown.length).toBeLessThan(text.length + 20_000 + 100);
    expect(createMarkdownWriter(dialect).renderFinished(shown, ROOM_BYTES)).toBe(shown);
  });

  test.each(['\n> ```\r</think>', '> ```\r<b>bold</b>', '> ```\r[here](https://evil.example)', '```\r\n```\r<i>'])(
    'is neutralised after a carriage return that ends a code block for the app: %j [harmless-marks]',
    (text) => {
      const writer = createMarkdownWriter(dialect);
      for (const shown of [
        writer.renderFinished(text, ROOM_BYTES),
        writer.renderGrowing(text, ROOM_BYTES),
        ...writer.split(text, ROOM_BYTES),
      ])
        isHarmless(shown);
    },
  );

  test('leaves no active markup in any streamed snapshot, and streaming does not change the finished text [harmless-marks]', () => {
    const writer = createMarkdownWriter(dialect);
    const grown = hostileText.chain((text) => fc.tuple(fc.constant(text), tokensOf(text)));
    fc.assert(
      fc.property(grown, ([text, tokens]) => {
        let sofar = '';
        for (const token of tokens) {
          sofar += token;
          isHarmless(writer.renderGrowing(sofar, ROOM_BYTES));
        }
        const fresh = createMarkdownWriter(dialect).renderFinished(text, ROOM_BYTES);
        expect(writer.renderFinished(text, ROOM_BYTES)).toBe(fresh);
      }),
      { numRuns: tries(200) },
    );
  });

  test('leaves no active markup in split pieces, which fit and are unchanged by a second rendering [harmless-marks]', () => {
    const writer = createMarkdownWriter(dialect);
    const long = fc.array(hostileText, { minLength: 2, maxLength: 6 }).map((texts) => texts.join('\n'));
    fc.assert(
      fc.property(long, fc.integer({ min: 128, max: 700 }), (text, maxBytes) => {
        for (const piece of writer.split(text, maxBytes)) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(maxBytes);
          isHarmless(piece);
          expect(writer.renderFinished(piece, maxBytes)).toBe(piece);
        }
      }),
      { numRuns: tries(200) },
    );
  });

  test('is neutralised where it becomes active only because a piece begins or ends inside it [harmless-marks]', () => {
    const writer = createMarkdownWriter(dialect);
    for (const middle of ['[name]: https://t.test/?d=1 "more"', '`<https://t.test>` and ![p](https://t.test/?d=1)']) {
      for (let before = 0; before < 160; before += 1) {
        const text = `${'word '.repeat(before / 5)}${'w'.repeat(before % 5)} ${middle}${' after'.repeat(40)}`;
        for (const piece of writer.split(text, 128)) {
          isHarmless(piece);
          expect(createMarkdownWriter(dialect).renderFinished(piece, 128)).toBe(piece);
        }
      }
    }
  });
});
