import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { DocumentError } from '../../../../src/bot/knowledge/documents/document.ts';
import { readDocument } from '../../../../src/bot/knowledge/documents/read-document.ts';
import { childRunning, SEES_CHILDREN } from '../../../support/child-processes.ts';
import { tries } from '../../../support/tries.ts';
import { colourScan, fits, makeCorpus, wordsOf, type CorpusFile } from './corpus.ts';

const MAX_MS = 10_000;
const MAX_BYTES = 230_000_000;
const KIB_BYTES = 1_024;
const LOOK_EACH_MS = 50;

/** Peak memory of the reader process so far, in bytes; 0 if unknown. */
function highestBytes(): number {
  try {
    const id = childRunning('documents/reader.js');
    const status = id === undefined ? '' : readFileSync(`/proc/${id}/status`, 'latin1');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KIB_BYTES;
  } catch {
    return 0;
  }
}

async function read({ bytes, name }: CorpusFile): Promise<{ words: string; tookMs: number; maxBytes: number }> {
  let maxBytes = 0;
  const looking = setInterval(() => {
    if (SEES_CHILDREN) maxBytes = Math.max(maxBytes, highestBytes());
  }, LOOK_EACH_MS);
  const startMs = performance.now();
  const words = await readDocument(bytes, { name }, 'a person', new AbortController().signal).then(
    wordsOf,
    (error: unknown) => (error instanceof DocumentError ? error.code : Promise.reject(error as Error)),
  );
  const tookMs = performance.now() - startMs;
  clearInterval(looking);
  return { words, tookMs, maxBytes };
}

describe('the corpus', () => {
  const files = makeCorpus();

  test('contains at least 40 files, of which at least 15 are hostile', () => {
    expect(files.length).toBeGreaterThanOrEqual(40);
    expect(files.filter(({ isHostile }) => isHostile).length).toBeGreaterThanOrEqual(15);
  });

  test.each(files.map((file): [string, CorpusFile] => [file.name, file]))(
    '%s is read or rejected as expected, within 10 s and 230 MB [read-apart]',
    async (_, file) => {
      const { words, tookMs, maxBytes } = await read(file);
      if (process.env['SHOW_FIGURES'] === 'yes')
        process.stdout.write(`${file.name}: ${Math.round(tookMs)} ms, ${Math.round(maxBytes / 1e6)} MB\n`);
      expect(fits(words, file) ? '' : words.slice(0, 500)).toBe('');
      expect(tookMs).toBeLessThan(MAX_MS);
      expect(maxBytes).toBeLessThan(MAX_BYTES);
    },
    60_000,
  );

  test.each([200, 300])(
    'a colour scan at %i dpi gives the same result every time [read-apart]',
    async (dpi) => {
      const file = { name: 'scan.pdf', bytes: colourScan(dpi, 1), expected: '[page 1 image/png]' };
      const results: string[] = [];
      for (let count = tries(4); count > 0; count -= 1) results.push((await read(file)).words);
      expect(new Set(results)).toEqual(new Set([file.expected]));
    },
    240_000,
  );
});
