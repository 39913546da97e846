import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { cutMarkdown } from '../../../../src/bot/platforms/markdown/cut-markdown.ts';
import { cutText, fittingChars } from '../../../../src/bot/platforms/markdown/cut-text.ts';
import { tries } from '../../../support/tries.ts';

const reader = new MarkdownIt();
const cut = (text: string, maxBytes: number): string[] => [...cutMarkdown(text, maxBytes)];

/** The code that an independent parser finds in a text. */
function codeIn(markdown: string): string {
  return reader
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ content }) => content)
    .join('');
}

describe('cutting a text', () => {
  test('keeps a text that fits in one piece', () => {
    expect(cut('one\n\ntwo', 128)).toEqual(['one\n\ntwo']);
    expect(cut('', 128)).toEqual(['']);
    expect(cut('```js\nlet open', 128)).toEqual(['```js\nlet open']);
  });

  test('prefers the end of a paragraph, then of a line, then a space', () => {
    const words = 'word '.repeat(14).trimEnd();
    expect(cut(`${words}\n\n${words}`, 128)).toEqual([`${words}\n\n`, words]);
    expect(cut(`${words}\n${words}`, 128)).toEqual([`${words}\n`, words]);
    expect(cut('word '.repeat(40), 128).every((piece) => piece.endsWith(' '))).toBe(true);
  });

  test('closes a cut fence and reopens it with its language', () => {
    const code = Array.from({ length: 20 }, (_, line) => `line ${line};`).join('\n');
    const pieces = cut(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 128);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith('```ts\n') && piece.endsWith('\n```'))).toBe(true);
    expect(pieces.map(codeIn).join('')).toBe(`${code}\n`);
    expect(pieces.at(-1)).toMatch(/```\nDone\.$/);
  });

  test('keeps a cut fence in a list or a quote as code, and the text after it as text', () => {
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

  test('repeats the header of a cut table in every piece', () => {
    const rows = Array.from({ length: 30 }, (_, row) => `| ${row} | 第${row}行 |`);
    const pieces = cut(`说明：\n\n| n | 名 |\n|---|:-:|\n${rows.join('\n')}\n\nEnd.`, 200);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith('| n | 名 |\n|---|:-:|\n| '))).toBe(true);
    const shown = pieces.flatMap((piece) => [...reader.render(piece).matchAll(/<td>(\d+)<\/td>/g)].map(([, n]) => n));
    expect(shown).toEqual(rows.map((_, row) => String(row)));
    expect(pieces.every((piece) => Buffer.byteLength(piece) <= 200)).toBe(true);
  });

  test('does not cut inside a link, a code span or emphasis', () => {
    for (let before = 40; before < 128; before += 1) {
      const pieces = cut(`${'x'.repeat(before)} [two words](https://x.test/a) \`a b\` **c d** ${'y '.repeat(80)}`, 128);
      for (const whole of ['[two words](https://x.test/a)', '`a b`', '**c d**']) {
        expect(pieces.some((piece) => piece.includes(whole))).toBe(true);
      }
    }
  });

  test('does not cut a longer word so that a piece ends in @all', () => {
    for (let before = 60; before < 128; before += 1) {
      const pieces = cut(`${'x'.repeat(before)}@allocate${'y'.repeat(60)}`, 128);
      expect(pieces.join('')).toContain('@allocatey');
      expect(pieces.filter((piece) => piece.endsWith('@all'))).toEqual([]);
    }
  });

  test('does not cut inside a code point or a grapheme cluster that fits', () => {
    const family = '👨‍👩‍👧';
    expect(fittingChars(`ab${family}`, 12)).toBe(2);
    expect(fittingChars('你好', 5)).toBe(1);
    expect(fittingChars('e\u0301', 1)).toBe(1); // no cluster boundary within 1 byte: cut inside the cluster
    expect(fittingChars('abc', 99)).toBe(3);
    expect([...cutText(family.repeat(20), 100)].every((piece) => piece.replaceAll(family, '') === '')).toBe(true);
  });
});

describe('cutting any text', () => {
  const line = fc.oneof(
    fc.constantFrom('```', '```ts', '~~~~', '````md', '', '@all', '@allocate', '@所有人', 'x'.repeat(150)),
    fc.constantFrom('- item', '> said', '> ```', '- ```js', '  code', '| a | b |', '|---|---|', '| 1 | 二 |', '**bold'),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
  );
  const markdown = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'));
  const letters = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

  test('yields pieces within the limit and loses no letter or digit', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 128, max: 400 }), (text, maxBytes) => {
        const pieces = cut(text, maxBytes);
        for (const piece of pieces) {
          expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(maxBytes);
          expect(piece === '' && pieces.length > 1).toBe(false);
        }
        // Table headers and fences are repeated; everything else appears once, in order.
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

  test('with cutText yields pieces that join to the text, without split surrogate pairs or new broadcast mentions', () => {
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
