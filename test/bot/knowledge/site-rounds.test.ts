import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../../src/shared/clock.ts';
import { CrawlLocks, type ClaimTimes } from '../../../src/bot/knowledge/site/crawl-lock.ts';
import { page, SiteFixture } from './site-fixture.ts';

let fixture: SiteFixture;
beforeEach(async () => {
  fixture = await SiteFixture.start();
});
afterEach(() => fixture.end());

const SHARED = 'otter';
const pages = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [`/${number}`, page(`P${number}`, SHARED)]));
const CLAIM_TIMES = { renewMs: 50, lostAfterMs: 1_000 };

describe('crawl rate and robots.txt [site-asked-gently]', () => {
  test('sends one request at a time, with the longer pause of settings and robots.txt', async () => {
    fixture.serve({ ...pages(5), '/robots.txt': { body: 'User-agent: *\nCrawl-delay: 0.2\n', type: 'text/plain' } });
    await fixture.read();
    expect(fixture.site.maxAtOnce).toBe(1);
    expect(fixture.asked()).toHaveLength(5);
    const times = fixture.site.asked.filter(({ path }) => /^\/\d$/.test(path)).map(({ atMs }) => atMs);
    // Timers may fire a millisecond early.
    for (const [at, time] of times.slice(1).entries()) expect(time - (times[at] ?? 0)).toBeGreaterThan(195);
    expect(fixture.site.asked[0]?.headers['user-agent']).toContain('Parley');
  });

  test('removes pages that robots.txt refuses, without requesting them', async () => {
    const served = { '/a': page('A', SHARED), '/private/b': page('B', SHARED), '/private/open': page('Open', SHARED) };
    fixture.serve(served);
    expect(await fixture.read()).toMatchObject({ pages: 3 });
    fixture.site.pages.set('/robots.txt', {
      body: 'User-agent: *\nDisallow: /\n\nUser-agent: parley\nDisallow: /private\nAllow: /private/open\n',
    });
    const read = await fixture.readAgain();
    expect(read).toMatchObject({ pages: 2, gone: 1 });
    expect(read.leftOut).toEqual([{ reason: 'robots', count: 1, first: fixture.url('/private/b') }]);
    expect(fixture.asked()).toEqual(['/a', '/private/open']);
  });

  test('requests and removes nothing while robots.txt fails with a server error', async () => {
    fixture.serve(pages(2));
    await fixture.read();
    fixture.site.pages.set('/robots.txt', { status: 503 });
    expect(await fixture.readAgain()).toMatchObject({ pages: 2, failed: 2, gone: 0 });
    expect(fixture.asked()).toEqual([]);
  });

  test('repeats a request once after a Retry-After of up to 300 s', async () => {
    let refusals = 0;
    const refusing = (times: number) => ({
      answer: (_: unknown, response: ServerResponse) =>
        (refusals += 1) <= times
          ? void response.writeHead(503, { 'retry-after': '1' }).end()
          : void response.writeHead(200, { 'content-type': 'text/html' }).end(page('Later', SHARED)),
    });
    fixture.serve({ '/a': refusing(1) });
    expect(await fixture.read()).toMatchObject({ pages: 1, fetched: 1, failed: 0 });
    const [first, second] = fixture.site.asked.filter(({ path }) => path === '/a');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(995);
    refusals = 0;
    fixture.site.pages.set('/a', refusing(10));
    expect(await fixture.readAgain()).toMatchObject({ pages: 1, failed: 1 });
    expect(fixture.asked()).toEqual(['/a', '/a']);
    fixture.site.pages.set('/a', { status: 429, headers: { 'retry-after': '301' } });
    expect(await fixture.readAgain()).toMatchObject({ pages: 1, failed: 1 });
    expect(fixture.asked()).toEqual(['/a']);
  });
});

describe('a crawl by several processes [site-asked-gently]', () => {
  /** Other processes that share the folder. */
  let others: SiteFixture[] = [];
  afterEach(async () => {
    for (const other of others) await other.knowledge.kept.close();
    others = [];
  });
  const startOther = async (claimTimes?: ClaimTimes) => {
    const indexFolder = fixture.knowledge.path('index');
    const other = await SiteFixture.start(
      { root: fixture.knowledge.root, indexFolder, sites: { claimTimes } },
      fixture.site,
    );
    others.push(other);
    return other;
  };
  const roundFolder = () => {
    const root = fixture.knowledge.path('index/pages');
    return join(root, readdirSync(root)[0] ?? '', '.round');
  };

  test('is run by one process, and the others find its pages', async () => {
    fixture.serve(pages(8));
    const other = await startOther();
    fixture.knowledge.use(fixture.source());
    other.knowledge.use(fixture.source());
    await fixture.found(SHARED, ...Object.keys(pages(8)).map((path) => `P${path.slice(1)}`));
    await other.found(SHARED, ...Object.keys(pages(8)).map((path) => `P${path.slice(1)}`));
    await fixture.knowledge.until(
      () => fixture.knowledge.told.siteRead.length + other.knowledge.told.siteRead.length > 0,
    );
    await sleep(200);
    expect(fixture.knowledge.told.siteRead.length + other.knowledge.told.siteRead.length).toBe(1);
    expect(fixture.asked().sort()).toEqual(Object.keys(pages(8)));
  });

  test('is resumed after a crash by another process without repeating requests', async () => {
    fixture.serve(pages(6));
    const { knowledge } = fixture;
    knowledge.use(fixture.source());
    await knowledge.until(() => fixture.asked().length === 3);
    await knowledge.kept.close();
    const asked = fixture.asked();
    // Simulates a killed process: the claim exists and is not renewed.
    const [free = ''] = readdirSync(roundFolder()).filter((name) => name.endsWith('.free'));
    writeFileSync(join(roundFolder(), `claim-${Number(/\d+/.exec(free)?.[0]) + 1}`), '');
    fixture.site.asked.length = 0;
    const other = await startOther(CLAIM_TIMES);
    const beganMs = monotonicMs();
    other.knowledge.use(fixture.source());
    expect(await other.ended(1)).toMatchObject({ pages: 6 });
    expect(monotonicMs() - beganMs).toBeGreaterThan(CLAIM_TIMES.lostAfterMs);
    // The outcome of the request in flight was not recorded.
    expect([...new Set([...asked, ...fixture.asked()])].sort()).toEqual(Object.keys(pages(6)));
  });

  test('a claim that is renewed is kept, and a claim that was taken over ends its crawl', async () => {
    const folder = fixture.knowledge.path('claims');
    const times = { renewMs: 50, lostAfterMs: 60_000 };
    const claim = await new CrawlLocks(folder, times).take();
    const second = new CrawlLocks(folder, times);
    expect(await second.take()).toBeUndefined();
    const changedAtMs = () => statSync(join(folder, 'claim-1')).mtimeMs;
    const madeAtMs = changedAtMs();
    while (changedAtMs() === madeAtMs) await sleep(20);
    expect(await second.take()).toBeUndefined();
    await claim?.check();
    writeFileSync(join(folder, 'claim-2'), '');
    await expect(claim?.check()).rejects.toThrow('Another process');
    await claim?.release();
    const many = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const taking = new CrawlLocks(folder, { renewMs: 50, lostAfterMs: 100 });
        await taking.take();
        await sleep(150);
        return taking.take();
      }),
    );
    const holders = many.filter((one) => one !== undefined);
    const held = await Promise.all(
      holders.map((one) =>
        one.check().then(
          () => true,
          () => false,
        ),
      ),
    );
    expect(held.filter(Boolean)).toHaveLength(1);
    for (const one of holders) await one.release();
  });
});

test('an interrupted crawl stops within 3 s, keeps its pages, and is resumed by the next start', async () => {
  fixture.serve({ ...pages(3), '/slow': { answer: () => undefined }, '/last': page('Last', SHARED) });
  fixture.knowledge.use(fixture.source());
  await fixture.knowledge.until(() => fixture.asked().includes('/slow'));
  const beganMs = monotonicMs();
  await fixture.knowledge.kept.close();
  expect(monotonicMs() - beganMs).toBeLessThan(3_000);
  expect(fixture.knowledge.told.siteRead).toEqual([]);
  fixture.site.pages.set('/slow', { body: page('Slow', SHARED) });
  const { site } = fixture;
  site.asked.length = 0;
  const next = await SiteFixture.start({ root: fixture.knowledge.root }, site);
  next.list(['/0', '/1', '/2', '/slow', '/last'], { '/0': '2026-01-01' });
  next.knowledge.use(next.source());
  expect(await next.ended(1)).toMatchObject({ pages: 5, unchanged: 3, fetched: 2 });
  await next.found(SHARED, 'P0', 'P1', 'P2', 'Slow', 'Last');
  await next.knowledge.kept.close();
});

test('pages that are lost or broken on disk are fetched again', async () => {
  fixture.serve(pages(3), { '/0': '2026-01-01', '/1': '2026-01-01', '/2': '2026-01-01' });
  await fixture.read();
  const root = fixture.knowledge.path('index/pages');
  const folder = join(root, readdirSync(root)[0] ?? '');
  const [first = ''] = readdirSync(folder).filter((name) => name.endsWith('.page'));
  writeFileSync(join(folder, first), '');
  writeFileSync(join(folder, '.half.new'), 'x');
  expect(await fixture.readAgain()).toMatchObject({ pages: 3, fetched: 1, unchanged: 2 });
  expect(existsSync(join(folder, '.half.new'))).toBe(false);
  writeFileSync(join(folder, '.round/asked'), '[1,2\n{"x":');
  expect(await fixture.readAgain()).toMatchObject({ pages: 3, fetched: 3 });
  writeFileSync(join(folder, '.round/ended.json'), 'no JSON');
  await fixture.ended(4);
});
