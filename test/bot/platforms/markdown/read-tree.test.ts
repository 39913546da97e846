import { expect, test } from '@jest/globals';
import { isTooComplex } from '../../../../src/bot/platforms/markdown/read-tree.ts';

const boldCells = `| ${'**bold** | '.repeat(8)}\n`;

test.each([
  ['ends of emphasis without a beginning', '_|\n\\('.repeat(1_001), true],
  ['the same in paragraphs', `${'_|\n\\('.repeat(900)}\n\n`.repeat(3), false],
  ['a long run of one mark', '*'.repeat(4_000), true],
  ['a table of 60 rows with bold cells', boldCells.repeat(60), false],
  ['code with 1,500 underscores in names', `\`\`\`\n${'SOME_NAME = 名_称\n'.repeat(750)}\`\`\`\n`, false],
  ['300 addresses that do not end', '[a](b"access_token"'.repeat(300), true],
  ['300 links in a paragraph without a blank', '见[文档](https://example.edu/a)，'.repeat(300).slice(0, 4_000), false],
  ['an image of 300 kB', `![a](data:image/png;base64,${'A'.repeat(300_000)})`, false],
])('whether a text is too complex to parse: %s', (_name, markdown, expected) =>
  expect(isTooComplex(markdown)).toBe(expected),
);
