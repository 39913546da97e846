import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { writeDocuments } from '../../../bench/knowledge-texts.mjs';
import { IndexProcess } from '../../../src/bot/knowledge/index/index-process.ts';
import { KnowledgeFixture } from './knowledge-fixture.ts';

const DOCUMENTS = 10_000;
const MIB = 1_024 * 1_024;
let fixture: KnowledgeFixture;
/** Keeps the test process alive, because the index does not. */
let alive: NodeJS.Timeout;
beforeAll(() => {
  alive = setInterval(() => undefined, 1_000);
  fixture = new KnowledgeFixture({ openIndex: IndexProcess });
});
afterAll(async () => {
  await fixture.end();
  clearInterval(alive);
});

test('10,000 documents of 100 MB are indexed within 400 MiB and found, and a change among them is noticed', async () => {
  const bytes = writeDocuments(fixture.path('docs'), DOCUMENTS, 10_000);
  expect(bytes).toBeGreaterThan(95_000_000);
  const planted = Array.from({ length: 50 }, (_, number) => number * 200);
  for (const number of planted)
    fixture.write(`docs/${Math.floor(number / 100)}/planted.md`, `# Plant ${number}\n\nxyzzy${number} 水獭${number}`);
  fixture.use({ name: 'docs', folder: 'docs', readers: 'public' });
  await fixture.until(() => fixture.told.indexed.length > 0);
  const [size] = fixture.told.indexed;
  expect(size?.documents).toBe(DOCUMENTS + planted.length);
  expect((size?.memoryBytes ?? Infinity) / MIB).toBeLessThan(400);
  for (const number of planted) expect((await fixture.titles(`xyzzy${number}`))[0]).toBe(`Plant ${number}`);
  writeFileSync(fixture.path('docs/0/planted.md'), '# Changed\n\nplugh');
  await fixture.until(async () => (await fixture.titles('plugh'))[0] === 'Changed');
  expect(await fixture.titles('xyzzy0')).toEqual([]);
}, 600_000);
