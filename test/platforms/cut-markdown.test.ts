import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openFence } from '../../src/platforms/code-fence.ts';
import { cutMarkdown, fittingChars } from '../../src/platforms/cut-markdown.ts';

function cut(text: string, maxBytes: number): string[] {
  return [...cutMarkdown(text, maxBytes)].map(({ prefix, body, suffix }) => prefix + body + suffix);
}

describe('cutting', () => {
  test('a text that fits stays whole', () => {
    expect(cut('one\n\ntwo', 128)).toEqual(['one\n\ntwo']);
    expect(cut('', 128)).toEqual(['']);
    expect(cut('```js\nlet open', 128)).toEqual(['```js\nlet open']);
  });

  test('a paragraph’s end is preferred, then a line’s, then a space', () => {
    const words = 'word '.repeat(16).trimEnd();
    expect(cut(`${words}\n\n${words}`, 128)).toEqual([`${words}\n\n`, words]);
    expect(cut(`${words}\n${words}`, 128)).toEqual([`${words}\n`, words]);
    expect(cut('word '.repeat(40), 128).every((piece) => piece.endsWith(' '))).toBe(true);
  });

  test('a fence that is cut through is closed and opened again with its language', () => {
    const code = Array.from({ length: 20 }, (_, line) => `line ${line};`).join('\n');
    const pieces = cut(`Look:\n\`\`\`ts\n${code}\n\`\`\`\nDone.`, 128);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.slice(0, -1).every((piece) => openFence(piece) === undefined)).toBe(true);
    expect(pieces.slice(1, -1).every((piece) => piece.startsWith('```ts\n') && piece.endsWith('\n```'))).toBe(true);
    expect(pieces.at(-1)).toMatch(/```\nDone\.$/);
  });

  test('no call to everybody is made of another word', () => {
    for (let before = 90; before < 128; before += 1) {
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
  });
});

describe('fences', () => {
  test.each([
    ['```js\nx', { mark: '```', language: 'js' }],
    ['```js\nx\n```', undefined],
    ['````\n```\nx', { mark: '````', language: '' }],
    ['~~~ python title\nx', { mark: '~~~', language: 'python' }],
    ['~~~\n```\n~~~', undefined],
    ['  - ```\nx', undefined],
    ['```in`line\nx', undefined],
    ['```\nx\n``` not closed', { mark: '```', language: '' }],
  ])('%j', (text, fence) => {
    expect(openFence(text)).toEqual(fence);
  });
});

describe('properties', () => {
  const line = fc.oneof(
    fc.constantFrom(
      '```',
      '```ts',
      '~~~~',
      '````md',
      '',
      '@all',
      '@allocate',
      '@所有人',
      '- item',
      '| a | b |',
      'x'.repeat(150),
    ),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
  );
  const markdown = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'));

  test('every piece fits, the bodies are the text, and all but the last close their fences', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 128, max: 400 }), (text, maxBytes) => {
        const pieces = [...cutMarkdown(text, maxBytes)];
        expect(pieces.map(({ body }) => body).join('')).toBe(text);
        for (const { prefix, body, suffix } of pieces) {
          expect(Buffer.byteLength(prefix + body + suffix)).toBeLessThanOrEqual(maxBytes);
          expect(body === '' && pieces.length > 1).toBe(false);
        }
        for (const { prefix, body, suffix } of pieces.slice(0, -1)) {
          expect(openFence(prefix + body + suffix)).toBeUndefined();
        }
      }),
    );
  });

  test('no half of a pair, and no mark that the text did not have', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('@', 'a', 'l', 'll', 'ocate', '🙂', '你'), { maxLength: 300 }), (words) => {
        const text = words.join('').replace(/@(?=all(?![A-Za-z0-9_]))/g, '＠');
        for (const { body } of cutMarkdown(text, 128)) {
          expect(Buffer.from(body).toString()).toBe(body);
          expect(body).not.toMatch(/@all(?![A-Za-z0-9_])/);
        }
      }),
    );
  });
});
