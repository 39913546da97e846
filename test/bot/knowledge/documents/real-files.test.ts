import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DocumentError } from '../../../../src/bot/knowledge/documents/document.ts';
import { parseDocument } from '../../../../src/bot/knowledge/documents/read-here.ts';

/** PDFs of other projects with the text that pdftotext extracts, kept beside this project. Without them, nothing is tested. */
const FOLDER = '../shared/corpus';
const MIN_RECALL = 0.95;
/** A word; a single character in scripts without blanks between words. */
const WORD = /[\p{Script=Han}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+/gu;

const wordsOf = (text: string) => text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
const read = (path: string, name: string) =>
  parseDocument(readFileSync(path), { name }).then(
    ({ parts }) => parts.map(({ text }) => text).join('\n'),
    (error: unknown) => (error instanceof DocumentError ? '' : Promise.reject(error as Error)),
  );

/** Share of the expected words that a text contains. */
function recallOf(text: string, expected: string): number {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = wordsOf(expected);
  const found = words.filter((word) => {
    const count = counts.get(word) ?? 0;
    counts.set(word, count - 1);
    return count > 0;
  });
  return words.length === 0 ? 1 : found.length / words.length;
}

(existsSync(FOLDER) ? describe : describe.skip)('files of other projects', () => {
  test.each([
    ['text', 0.95],
    ['forms', 0.92],
  ])(
    'of the kind %s: at least 95 percent of the words are read in a share of %d of the files',
    async (kind, minShare) => {
      const recalls = new Map<string, number>();
      for (const name of existsSync(join(FOLDER, kind)) ? readdirSync(join(FOLDER, kind)) : []) {
        const reference = join(FOLDER, 'reference', `${name}.txt`);
        if (!existsSync(reference)) continue;
        recalls.set(name, recallOf(await read(join(FOLDER, kind, name), name), readFileSync(reference, 'utf8')));
      }
      const low = [...recalls].filter(([, recall]) => recall < MIN_RECALL);
      if (recalls.size > 0 && 1 - low.length / recalls.size < minShare) expect(low).toEqual([]);
    },
    120_000,
  );
});
