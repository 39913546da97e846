import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { IndexProcess } from '../../../src/bot/knowledge/index/index-process.ts';
import { sitemapOf, startSmallSite } from '../../support/small-site.ts';
import { KnowledgeFixture } from './knowledge-fixture.ts';

let fixture: KnowledgeFixture;
/** Keeps the test process alive, because the index does not. */
let alive: NodeJS.Timeout;
beforeEach(() => {
  alive = setInterval(() => undefined, 1_000);
  fixture = new KnowledgeFixture({ openIndex: IndexProcess });
});
afterEach(async () => {
  await fixture.end();
  clearInterval(alive);
});

const docs = { name: 'docs', folder: 'docs', readers: 'public' };
const pidOf = () => (fixture.index as IndexProcess).processId as number;

test('the index runs in a process without keys and is restarted after a crash, while searches return nothing [knowledge-borders]', async () => {
  process.env['PARLEY_TEST_SECRET_KEY'] = 'sesame';
  fixture.write('docs/a.md', '# A\notter');
  fixture.use(docs);
  delete process.env['PARLEY_TEST_SECRET_KEY'];
  await fixture.until(async () => (await fixture.find('otter')).length === 1);
  const first = pidOf();
  expect(readFileSync(`/proc/${first}/environ`, 'utf8')).not.toMatch(/sesame|KEY|TOKEN|SECRET/);
  process.kill(first, 'SIGKILL');
  await fixture.until(() => fixture.told.indexEnded.length === 1);
  expect(await fixture.find('otter')).toEqual([]);
  expect(fixture.told.sourceFailed.at(-1)).toEqual({ source: 'docs', fault: 'away' });
  await fixture.until(async () => (await fixture.find('otter')).length === 1);
  expect(pidOf()).not.toBe(first);
  expect(fixture.told.indexEnded[0]).toMatchObject({ signal: 'SIGKILL' });
}, 60_000);

test('the index process also reads the pages of a site', async () => {
  const site = await startSmallSite();
  site.pages.set('/sitemap.xml', sitemapOf([`${site.url}/a`, `${site.url}/b.pdf`]));
  site.pages.set('/a', { body: '<title>A</title><p>otter' });
  site.pages.set('/b.pdf', {
    body: readFileSync('test/bot/knowledge/documents/files/handbook.pdf'),
    type: 'application/pdf',
  });
  fixture.use({ name: 'site', sitemap: `${site.url}/sitemap.xml`, readers: 'public', pauseSec: 0.05 });
  await fixture.until(async () => (await fixture.titles('otter')).join() === 'A');
  await fixture.until(async () => (await fixture.titles('chapter 3')).join() === 'Handbook');
  await site.close();
}, 60_000);

test('a search fails at once if the index process is killed', async () => {
  fixture.write('docs/a.md', '# A\notter');
  fixture.use(docs);
  await fixture.until(async () => (await fixture.find('otter')).length === 1);
  process.kill(pidOf(), 'SIGSTOP');
  const asked = fixture.find('otter');
  process.kill(pidOf(), 'SIGKILL');
  expect(await asked).toEqual([]);
  expect(fixture.told.sourceFailed.at(-1)?.fault).toBe('away');
}, 60_000);

test('an aborted search rejects with the reason of its caller, and closing ends the index process', async () => {
  fixture.write('docs/a.md', '# A\notter');
  const knowledge = fixture.use(docs);
  await fixture.until(async () => (await fixture.find('otter')).length === 1);
  process.kill(pidOf(), 'SIGSTOP');
  const stopping = new AbortController();
  const asked = knowledge.search('otter', { person: undefined, place: { kind: 'private', id: 'u' } }, stopping.signal);
  stopping.abort(new Error('Enough'));
  await expect(asked).rejects.toThrow('Enough');
  const pid = pidOf();
  await fixture.kept.close();
  expect(() => process.kill(pid, 0)).toThrow();
}, 60_000);
