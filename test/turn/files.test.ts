import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { estimateTokens } from '../../src/conversation/estimate-tokens.ts';
import { placeIn, shownName } from '../../src/turn/files/file-words.ts';
import { fitFiles } from '../../src/turn/files/fit-files.ts';
import { readKept, writeKept, type KeptFile } from '../../src/turn/files/kept-file.ts';

const pages = (count: number): KeptFile => ({
  name: 'a.pdf',
  parts: Array.from({ length: count }, (_, index) => ({ label: `page ${index + 1}`, text: 'word '.repeat(80) })),
  pictures: [],
  pageCount: count,
});
const room = { tokenFactor: 1, mostPictures: 2, language: 'en' } as const;

describe('a file’s name', () => {
  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\budget 2026.xlsx', 'budget 2026.xlsx'],
    ['<b>“x”</b>\u202egnp.exe', 'b gnp.exe'],
    ['预算（终稿）.xlsx', '预算（终稿）.xlsx'],
    ['\u200b\n', 'the file'],
    [undefined, 'the file'],
  ])('%j is told as %j [named-plainly]', (sent, told) => expect(shownName(sent, 'en')).toBe(told));

  test('is bounded, keeps its ending and holds nothing that could be markup, whatever was sent [named-plainly]', () => {
    expect(shownName(`${'x'.repeat(200)}.xlsx`, 'en')).toMatch(/^x+….xlsx$/);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (sent) => {
        const told = shownName(sent, 'zh');
        expect([...told].length).toBeLessThanOrEqual(81);
        expect(told).not.toMatch(/[<>"'`*~|[\]{}\\/@\n\p{Cc}]/u);
      }),
    );
  });
});

test('places are told in both languages', () => {
  expect([placeIn('page 3', 'zh'), placeIn('sheet 预算, rows 1–200', 'zh'), placeIn('section Hours', 'en')]).toEqual([
    '第 3 页',
    '工作表 预算, 第 1–200 行',
    'section Hours',
  ]);
});

describe('files in a prompt', () => {
  test('share its room, each cut at a named place', () => {
    const { files, cut } = fitFiles([pages(40), pages(40)], { ...room, roomTokens: 1_000 });
    const tokens = files.reduce((sum, { text }) => sum + estimateTokens(text), 0);
    expect(tokens).toBeLessThanOrEqual(1_000);
    expect(files.map(({ isCut }) => isCut)).toEqual([true, true]);
    expect(cut).toEqual([
      { name: 'a.pdf', upTo: 'page 5', pageCount: 40 },
      { name: 'a.pdf', upTo: 'page 5', pageCount: 40 },
    ]);
  });

  test('that fit are whole, and nothing is said', () => {
    const { files, cut } = fitFiles([pages(3)], { ...room, roomTokens: 1_000 });
    expect(files[0]?.text).toMatch(/^\[page 1\]\nword[^]*\[page 3\]/);
    expect(cut).toEqual([]);
  });

  test('take no more room than there is, whatever they say', () => {
    const part = fc.record({
      label: fc.option(fc.string(), { nil: undefined }),
      text: fc.string({ maxLength: 3_000 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(part, { maxLength: 8 }), { maxLength: 4 }), fc.nat(2_000), (all, roomTokens) => {
        const kept = all.map((parts): KeptFile => ({ parts, pictures: [] }));
        const { files } = fitFiles(kept, { ...room, roomTokens });
        const tokens = files.reduce((sum, { text }) => sum + estimateTokens(text), 0);
        expect(tokens).toBeLessThanOrEqual(roomTokens + 4 * all.length);
      }),
    );
  });
});

test('what is kept is read back; what is none, or of another kind, is not there', () => {
  expect(readKept(writeKept(pages(1)))).toEqual(pages(1));
  expect(readKept(writeKept({ name: 'a', fault: 'broken' }))).toEqual({ name: 'a', fault: 'broken' });
  for (const other of ['data:image/png;base64,AA', 'fault:broken', '{}', 'null', '{"fault":"funny"}'])
    expect(readKept(other)).toBeUndefined();
});
