import type { SeededRandom } from '../test/support/seeded-random.ts';

/** Fragments that a model may write and that are hard for a markdown parser. None contains a word of the testbed. */
const GRAMMAR: readonly ((random: SeededRandom) => string)[] = [
  (random) => ' '.repeat(random.integer(2, random.oneIn(20) ? 1_500 : 80)),
  (random) => '`'.repeat(random.integer(1, random.oneIn(10) ? 60 : 5)),
  (random) => `\n${'  '.repeat(random.integer(0, 12))}${random.pick(['-', '*', '1.', '+', '- [ ]'])}`,
  (random) => `\n${'> '.repeat(random.integer(1, random.oneIn(10) ? 30 : 4))}`,
  (random) => random.pick(['*', '_', '~'] as const).repeat(random.integer(1, random.oneIn(10) ? 60 : 3)),
  (random) => '['.repeat(random.integer(1, random.oneIn(10) ? 40 : 2)),
  (random) =>
    `[${lowerText(random, 4)}](https://example.org/${lowerText(random, 6)}${random.pick([')', '', ' "a title")', '(a)b)'])}`,
  (random) => `![${lowerText(random, 4)}](https://example.org/${lowerText(random, 3)}.png)`,
  () => '<https://example.org/a?b=c|a label>',
  (random) => random.pick(['<@U0123456>', '@all', '@channel', '<!here>', '<!channel>', '@person2', '<#C0X|x>']),
  (random) =>
    random.pick(['<b>', '</b>', '<br>', '<script>', '<a href="javascript:x">', '&lt;', '&amp;amp;', '&#64;all']),
  (random) => random.pick(['x<think>', '</think>', '<font color="red">', '</font>']),
  (random) => `\n${random.pick(['```js', '~~~', '```', '````'])}\n`,
  () => '\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n',
  (random) => `\n${'#'.repeat(random.integer(1, 7))} `,
  (random) => random.pick(['\n---\n', '\n===\n', '\\', '\\\n', '  \n', '\n\n\n\n', '\t\t']),
  (random) => random.pick(['你好，世界', '👩‍👩‍👧‍👦', 'ａｂｃ', '\u200b\u200d', '\u202eright to left\u202c', 'e\u0301\u0301']),
];

/** Several fragments of hostile text in a row. It is separated from the surrounding words. */
export function hostileText(random: SeededRandom): string {
  const pieces = Array.from({ length: random.integer(0, 3) }, () => GRAMMAR[random.integer(0, GRAMMAR.length - 1)]);
  return pieces.map((piece) => `${piece?.(random) ?? ''} `).join('');
}

/** The testbed's own names begin with a capital. */
function lowerText(random: SeededRandom, length: number): string {
  return random.text(length).toLowerCase();
}
