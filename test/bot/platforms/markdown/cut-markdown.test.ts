import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { cutMarkdown } from '../../../../src/bot/platforms/markdown/cut-markdown.ts';
import { cutText, fittingChars } from '../../../../src/bot/platforms/markdown/cut-text.ts';
import { tries } from '../../../support/tries.ts';

const reader = new MarkdownIt();
const cut = (text: string, maxBytes: number): string[] => [...cutMarkdown(text, maxBytes)];

/** What another reader takes for code in a text. */
function codeIn(markdown: string): string {
  return reader
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ content }) => content)
    .join('');
}

describe('cutting', () => {
  test('a text that fits stays whole', () => {
    expect(cut('one\n\ntwo', 128)).toEqual(['one\n\ntwo']);
    expect(cut('', 128)).toEqual(['']);
    expect(cut('```js\nlet open', 128)).toEqual(['```js\nlet open']);
  });

  test('a paragraph’s end is preferred, then a line’s, then a space', () => {
    const words = 'word '.repeat(14).trimEnd();
    expect(cut(`${words}\n\n${words}`, 128)).toEqual([`${words}\n\n`, words]);
    expect(cut(`${words}\n${words}`, 128)).toEqual([`${words}\n`, words]);
    expect(cut('word '.repeat(40), 128).every((piece) => piece.endsWith(' '))).toBe(true);
  });

  test('a fence that is cut through is closed and opened again with its language', () => {
    const code = Array.from({ length: 20 }, (_, line) => `line ${line};`).join('\n');
    const pieces = cut(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 128);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith('```ts\n') && piece.endsWith('\n```'))).toBe(true);
    expect(pieces.map(codeIn).join('')).toBe(`${code}\n`);
    expect(pieces.at(-1)).toMatch(/```\nDone\.$/);
  });

  test('a fence in a list or a quote goes on as code, and the text behind it as text', () => {
    const code = Array.from({ length: 30 }, (_, line) => `line ${line};`);
    const inList = `1.  Do this:\n\n    ~~~sh\n${code.map((line) => `    ${line}\n`).join('')}    ~~~\n\nAnd then.`;
    const inQuote = `> Said:\n> \`\`\`\n${code.map((line) => `> ${line}\n`).join('')}> \`\`\`\n\nAnd then.`;
    for (const text of [inList, inQuote]) {
      const pieces = cut(text, 160);
      expect(pieces.length).toBeGreaterThan(2);
      expect(pieces.map(codeIn).join('')).toBe(`${code.join('\n')}\n`);
      expect(reader.render(pieces.at(-1) ?? '')).toContain('<p>And then.</p>');
    }
  });

  test('a table that is cut through has its head in every piece', () => {
    const rows = Array.from({ length: 30 }, (_, row) => `| ${row} | 第${row}行 |`);
    const pieces = cut(`说明：\n\n| n | 名 |\n|---|:-:|\n${rows.join('\n')}\n\nEnd.`, 200);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith('| n | 名 |\n|---|:-:|\n| '))).toBe(true);
    const shown = pieces.flatMap((piece) => [...reader.render(piece).matchAll(/<td>(\d+)<\/td>/g)].map(([, n]) => n));
    expect(shown).toEqual(rows.map((_, row) => String(row)));
    expect(pieces.every((piece) => Buffer.byteLength(piece) <= 200)).toBe(true);
  });

  test('a link, a code span and an emphasis are not cut through', () => {
    for (let before = 40; before < 128; before += 1) {
      const pieces = cut(`${'x'.repeat(before)} [two words](https://x.test/a) \`a b\` **c d** ${'y '.repeat(80)}`, 128);
      for (const whole of ['[two words](https://x.test/a)', '`a b`', '**c d**']) {
        expect(pieces.some((piece) => piece.includes(whole))).toBe(true);
      }
    }
  });

  test('no call to everybody is made of another word', () => {
    for (let before = 60; before < 128; before += 1) {
      const pieces = cut(`${'x'.repeat(before)}@allocate${'y'.repeat(60)}`, 128);
      expect(pieces.join('')).toContain('@allocatey');
      expect(pieces.filter((piece) => piece.endsWith('@all'))).toEqual([]);
    }
  });

  test('a character is never cut, nor one that is made of several', () => {
    const family = '👨‍👩‍👧';
    expect(fittingChars(`ab${family}`, 12)).toBe(2);
    expect(fittingChars('你好', 5)).toBe(1);
    expect(fittingChars('e\u0301', 1)).toBe(1); // a window of one: a byte more than nothing
    expect(fittingChars('abc', 99)).toBe(3);
    expect([...cutText(family.repeat(20), 100)].every((piece) => piece.replaceAll(family, '') === '')).toBe(true);
  });
});

describe('properties', () => {
  const line = fc.oneof(
    fc.constantFrom('```', '```ts', '~~~~', '````md', '', '@all', '@allocate', '@所有人', 'x'.repeat(150)),
    fc.constantFrom('- item', '> said', '> ```', '- ```js', '  code', '| a | b |', '|---|---|', '| 1 | 二 |', '**bold'),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
  );
  const markdown = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'));
  const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

  test('every piece fits, and no word is lost, however it is split', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 128, max: 400 }), (text, maxBytes) => {
        const pieces = cut(text, maxBytes);
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(maxBytes);
          expect(piece === '' && pieces.length > 1).toBe(false);
        }
        // Heads and fences are repeated; all else comes once, in order.
        let shown = letters(pieces.join(''));
        for (const letter of letters(text)) {
          const at = shown.indexOf(letter);
          expect(at).toBeGreaterThanOrEqual(0);
          shown = shown.slice(at + letter.length);
        }
      }),
      { numRuns: tries(200) },
    );
  });

  test('plain pieces joined are the text, with no half of a pair and no mark that it did not have', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('@', 'a', 'l', 'll', 'ocate', '🙂', '你'), { maxLength: 300 }), (words) => {
        const text = words.join('').replace(/@(?=all(?![A-Za-z0-9_]))/g, '＠');
        const pieces = [...cutText(text, 128)];
        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(128);
          expect(Buffer.from(piece).toString()).toBe(piece);
          expect(piece).not.toMatch(/@all(?![A-Za-z0-9_])/);
        }
      }),
      { numRuns: tries(200) },
    );
  });
});
