import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { createMarkdownWriter } from '../../../../src/bot/platforms/markdown/markdown-writer.ts';
import { SLACK_DIALECT } from '../../../../src/bot/platforms/slack/dialect.ts';
import { WECOM_DIALECT } from '../../../../src/bot/platforms/wecom/dialect.ts';
import { tries } from '../../../support/tries.ts';
import { faultsIn } from './hostile-text.ts';

const ROOM_BYTES = 100_000;
/** An independent parser that interprets HTML: whatever it leaves as text is text to any client. */
const reader = new MarkdownIt({ html: true });

/** The text that a person sees in a client: tags removed, entities decoded. */
function read(markdown: string): string {
  return reader
    .render(markdown)
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .trim();
}

describe.each([
  ['wecom', WECOM_DIALECT],
  ['slack', SLACK_DIALECT],
] as const)('markdown shown as written on %s', (_name, dialect) => {
  const writer = createMarkdownWriter(dialect);
  const shown = (text: string) => read(writer.renderFinished(text, ROOM_BYTES));

  test.each([
    'A List<T> of things',
    'Use Map<String, List<Integer>> or Result<T, E>.',
    '<T>(value: T): Promise<T>',
    'fn<T extends Shape>() and vector<int>',
    'Write to <your-name> and close </p>.',
    'the <div> and the <b>bold</b> ones',
    '类型 List<T> 和 <姓名>',
    'if a<b and c>d',
  ])('keeps a name in angle brackets: %s', (text) => {
    expect(shown(text)).toBe(text);
    expect(faultsIn(writer.renderFinished(text, ROOM_BYTES))).toEqual([]);
  });

  test('keeps a type in an indented code block and neutralises HTML there', () => {
    expect(shown('So:\n\n    List<T> a;\n')).toBe('So:\nList<T> a;');
    expect(shown('So:\n\n    <b>a</b>\n')).toBe('So:\n＜b>a＜/b>');
  });

  test.each([
    '<img src="https://t.test/">',
    '<script>x</script>',
    '<!-- x -->',
    '<a href="https://x.test">x</a>',
    '<?php ?>',
  ])('neutralises active HTML, with or without a backslash before it: %s', (text) => {
    expect(writer.renderFinished(text, ROOM_BYTES)).toMatch(/^＜/);
    expect(writer.renderFinished(`\\${text}`, ROOM_BYTES)).toMatch(/^\\?＜/);
  });

  test.each([
    String.raw`The root is \(\frac{-b \pm \sqrt{b^2-4ac}}{2a}\).`,
    String.raw`\[ \int_0^1 x\,dx = \frac{1}{2} \]`,
    String.raw`$$\begin{matrix} a & b \\ c & d \end{matrix}$$`,
    String.raw`Sets \(\{x\}\) and $\{1,\;2\}$, and $f^*(x) = g^*(y)$.`,
    String.raw`An interval \([0,1)\), a norm \(\|x\|\), an index \(a_{i}_1 b_2\) and \(x*y*z\).`,
    String.raw`价格是 $5，公式是 \(E = mc^2\)。`,
    String.raw`- In a list: \(a\_b\)`,
    String.raw`$\alpha\!\beta$ costs \(\$5\)`,
    String.raw`A space \(a~b\), two \(~~x~~x_1\), and $x~~=~~y$`,
  ])('keeps every character of a formula: %s', (text) => {
    expect(shown(text)).toBe(text.replace(/^- /, ''));
  });

  test('keeps the brackets and row ends of a formula over several lines', () => {
    expect(shown('\\[\na \\\\\nb\n\\]\n\ntext')).toBe('\\[\na \\\\\nb\n\\]\ntext');
    expect(shown('\\[\na\n- b\n\\]')).toContain('\\[');
    expect(shown('$$\nx = \\{1\\} \\\\\ny_1 * y_2 * y_3\n$$')).toBe('$$\nx = \\{1\\} \\\\\ny_1 * y_2 * y_3\n$$');
  });

  test.each([
    ['an intentional escape', String.raw`\*no list\* and \[no link\](https://x.test) and \[x\]`],
    ['two prices', 'It costs $5 or *maybe* $6, $7/$8.'],
    ['variables', 'Set $HOME and **$PATH** first.'],
  ])('leaves %s unchanged', (_what, text) => {
    expect(writer.renderFinished(text, ROOM_BYTES)).toBe(text);
  });

  const piece = fc.constantFrom(
    ...['x', 'y_1', '}_2', 'a*b', '*', '_', ' ', '^', '=', '+', '{', '}', '0', '(', ')', '~', '|', '-', ','],
    ...[
      String.raw`\frac`,
      String.raw`\{`,
      String.raw`\}`,
      String.raw`\,`,
      String.raw`\\`,
      String.raw`\_`,
      String.raw`\%`,
    ],
  );
  const formula = fc
    .tuple(
      fc.constantFrom(['\\(', '\\)'], ['$$', '$$']),
      fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join('')),
    )
    .map(([[begin = '', end = ''], inner]) => `${begin}${inner} ${end}`);
  const words = fc.array(fc.oneof(formula, fc.constantFrom('so', 'List<T>', '因此')), { minLength: 1, maxLength: 5 });

  test('keeps any formula among words, is unchanged by a second rendering, and retracts nothing while streaming', () => {
    fc.assert(
      fc.property(words, (parts) => {
        const text = `A ${parts.join(' and ')} z.`.replace(/ +/g, ' ');
        const written = writer.renderFinished(text, ROOM_BYTES);
        expect(read(written)).toBe(text);
        expect(writer.renderFinished(written, ROOM_BYTES)).toBe(written);
        if (dialect.unfinished === 'close') return;
        let before = '';
        for (let end = 1; end <= text.length; end += 3) {
          const snapshot = writer.renderGrowing(text.slice(0, end), ROOM_BYTES);
          expect(snapshot.startsWith(before)).toBe(true);
          before = snapshot;
        }
        expect(written.startsWith(before)).toBe(true);
      }),
      { numRuns: tries(200) },
    );
  });
});
