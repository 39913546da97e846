import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassageIndex } from '../../../src/bot/knowledge/index/passage-index.ts';
import { SegmentFiles } from '../../../src/bot/knowledge/index/segment-files.ts';

/** A JSON file of documents, and of questions with the ids of the documents that answer them. */
interface RetrievalSet {
  docs: { id: string; title: string; text: string }[];
  queries: { q: string; ids: string[] }[];
}

/** Folder of such files. Without it, nothing is measured. */
const FOLDER = process.env['RETRIEVAL_SETS'];
const TOP = 5;
/** Lower than all measured shares (docs/design/knowledge.md). */
const MIN_FOUND = 0.5;

(FOLDER === undefined ? describe.skip : describe)('the retrieval sets', () => {
  const names = FOLDER === undefined ? [] : readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

  test.each(names)('%s: a document that answers the question is among the first five', async (name) => {
    const { docs, queries } = JSON.parse(readFileSync(join(FOLDER ?? '', name), 'utf8')) as RetrievalSet;
    const folder = mkdtempSync(join(tmpdir(), 'parley-retrieval-'));
    try {
      const index = new PassageIndex(new SegmentFiles(folder));
      for (const { id, title, text } of docs)
        await index.add({ source: 'set', path: id, title, stamp: '1', parts: [{ text }] });
      await index.settle();
      const ranks = queries.map(({ q, ids }) => {
        const hits = index.search({ query: q, isReadable: () => true, limit: TOP });
        return hits.findIndex(({ entry }) => ids.includes(entry.path));
      });
      const share = (found: (rank: number) => boolean) => ranks.filter(found).length / ranks.length;
      const [first, top] = [share((rank) => rank === 0), share((rank) => rank >= 0)];
      process.stdout.write(`${name}: first ${first.toFixed(3)}, first five ${top.toFixed(3)} of ${ranks.length}\n`);
      expect(top).toBeGreaterThan(MIN_FOUND);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
