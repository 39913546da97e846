import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { STAFF_IN_GROUP, STRANGER, STUDENT } from './knowledge-fixture.ts';
import { page, SiteFixture } from './site-fixture.ts';

let fixture: SiteFixture;
beforeEach(async () => {
  fixture = await SiteFixture.start();
});
afterEach(() => fixture.end());

/** A word on every page of a test, so that one search finds all of them. */
const SHARED = 'otter';
const found = (...titles: string[]) => fixture.found(SHARED, ...titles);

test('pages and documents of a site are found with title, text, link and date', async () => {
  fixture.serve(
    {
      '/hours': page('Opening hours', `The ${SHARED} library opens at &lt;seven&gt;.`),
      '/notes.md': { body: `# House rules\n\nNo ${SHARED} sleeps here.`, type: 'text/markdown' },
      '/plain/%E6%96%87.txt': { body: `${SHARED} text`, type: 'text/plain; charset=utf-8' },
      '/rooms.csv': { body: `room,seats\nA101 ${SHARED},40\n`, type: 'text/csv' },
      '/handbook': { body: readFileSync('test/bot/knowledge/documents/files/handbook.pdf'), type: 'application/pdf' },
      '/dated': {
        body: page('Dated', SHARED),
        headers: { 'last-modified': 'Sun, 01 Feb 2026 23:30:00 GMT' },
      },
    },
    { '/hours': '2026-03-04T10:00:00+08:00' },
  );
  const read = await fixture.read();
  expect(read).toMatchObject({ source: 'site', pages: 6, fetched: 6, unchanged: 0, gone: 0, failed: 0, leftOut: [] });
  expect(read.fault).toBeUndefined();
  await found('Opening hours', 'House rules', '文.txt', 'rooms.csv', 'Dated');
  expect(await fixture.knowledge.find('when does the library open')).toEqual([
    {
      documentId: expect.stringMatching(/^[0-9a-f]{16}$/),
      source: 'site',
      title: 'Opening hours',
      text: `The ${SHARED} library opens at <seven>.`,
      url: fixture.url('/hours'),
      date: '2026-03-04',
      score: expect.any(Number),
    },
  ]);
  expect((await fixture.knowledge.find('dated otter')).find(({ title }) => title === 'Dated')?.date).toBe('2026-02-01');
  await fixture.knowledge.until(async () => (await fixture.knowledge.find('chapter 3')).length > 0);
  expect((await fixture.knowledge.find('chapter 3'))[0]).toMatchObject({
    title: 'Handbook',
    place: 'page 3',
    url: fixture.url('/handbook'),
  });
}, 60_000);

test('a page is decoded in the encoding that it declares', async () => {
  const chinese = Buffer.from('b8fcd0c2', 'hex');
  fixture.serve({
    '/meta': {
      body: Buffer.concat([
        Buffer.from(`<meta charset=gbk><title>${SHARED} `),
        chinese,
        Buffer.from(`</title><p>${SHARED}`),
      ]),
      type: 'text/html',
    },
    '/header': {
      body: Buffer.concat([Buffer.from(`<title>h ${SHARED} `), chinese, Buffer.from(`</title><p>${SHARED}`)]),
      type: 'text/html; charset=gb2312',
    },
  });
  await fixture.read();
  await found(`${SHARED} 更新`, `h ${SHARED} 更新`);
});

describe('rights to the pages of a site [knowledge-rights]', () => {
  test('the source defines who may read the pages of a site', async () => {
    fixture.serve({ '/a': page('A', SHARED) });
    await fixture.read({ readers: { identity: ['XS'] } });
    await fixture.knowledge.until(async () => (await fixture.knowledge.titles(SHARED, STUDENT)).length === 1);
    for (const reader of [undefined, STRANGER, STAFF_IN_GROUP, { ...STUDENT, place: STAFF_IN_GROUP.place }])
      expect(await fixture.knowledge.titles(SHARED, reader)).toEqual([]);
  });

  test('front matter of a page opens nothing', async () => {
    const open = '---\nreaders: public\ntitle: Opened\n---\n';
    fixture.serve({
      '/a.md': { body: `${open}# A ${SHARED}`, type: 'text/markdown' },
      '/b.txt': { body: `${open}B ${SHARED}`, type: 'text/plain' },
      '/c.csv': { body: `${open}name,place\n${SHARED},C\n`, type: 'text/csv' },
      '/d': { body: `${open}<title>D</title><p>${SHARED}`, type: 'text/html' },
    });
    await fixture.read({ readers: { identity: ['XS'] } });
    await fixture.knowledge.until(async () => (await fixture.knowledge.titles(SHARED, STUDENT)).length === 4);
    expect(await fixture.knowledge.titles(SHARED, STRANGER)).toEqual([]);
    expect(await fixture.knowledge.titles('opened', STUDENT)).not.toContain('Opened');
  });

  test('a removed site is no longer searched, and nothing of it stays on disk', async () => {
    fixture.serve({ '/a': page('A', SHARED) });
    await fixture.read();
    await found('A');
    const before = fixture.knowledge.knowledge;
    fixture.knowledge.use();
    expect(await before?.search(SHARED, STUDENT, new AbortController().signal)).toEqual([]);
    await fixture.knowledge.until(() => readdirSync(fixture.knowledge.path('index/pages')).length === 0);
  });
});

describe('a repeated crawl', () => {
  test('requests unchanged pages with their conditions and keeps them', async () => {
    fixture.serve({
      '/tag': { body: page('Tag', SHARED), headers: { etag: '"one"' } },
      '/day': { body: page('Day', SHARED), headers: { 'last-modified': 'Sun, 01 Feb 2026 23:30:00 GMT' } },
      '/none': page('None', SHARED),
    });
    await fixture.read();
    await found('Tag', 'Day', 'None');
    const { length } = fixture.knowledge.told.indexed;
    const read = await fixture.readAgain();
    expect(read).toMatchObject({ pages: 3, fetched: 0, unchanged: 3 });
    const headersOf = (path: string) => fixture.site.asked.find((one) => one.path === path)?.headers;
    expect(headersOf('/tag')?.['if-none-match']).toBe('"one"');
    expect(headersOf('/day')?.['if-modified-since']).toBe('Sun, 01 Feb 2026 23:30:00 GMT');
    expect(fixture.knowledge.told.indexed).toHaveLength(length);
  });

  test('updates changed pages, adds new ones, and removes those that are gone, closed or no longer listed', async () => {
    const stays = { body: page('Stays', SHARED), headers: { etag: '"s"' } };
    fixture.serve({
      '/stays': stays,
      '/changes': { body: page('Before', SHARED), headers: { etag: '"1"' } },
      '/gone': page('Gone', SHARED),
      '/closed': page('Closed', SHARED),
      '/unlisted': page('Unlisted', SHARED),
    });
    await fixture.read();
    await found('Stays', 'Before', 'Gone', 'Closed', 'Unlisted');
    fixture.site.pages.delete('/gone');
    fixture.serve({
      '/stays': stays,
      '/changes': { body: page('After', SHARED), headers: { etag: '"2"' } },
      '/gone': { status: 410 },
      '/closed': { status: 403 },
      '/new': page('New', SHARED),
    });
    const read = await fixture.readAgain();
    expect(read).toMatchObject({ pages: 3, fetched: 2, unchanged: 1, gone: 3, failed: 0 });
    expect(read.leftOut).toEqual([
      { reason: 'not_found', count: 1, first: fixture.url('/gone') },
      { reason: 'closed', count: 1, first: fixture.url('/closed') },
    ]);
    await found('Stays', 'After', 'New');
  });

  test('requests a page that is unchanged according to the sitemap once a week', async () => {
    const pages = { '/a': page('A', SHARED), '/b': page('B', SHARED) };
    fixture.serve(pages, { '/a': '2026-01-01', '/b': '2026-01-01' });
    await fixture.read();
    expect(fixture.asked()).toEqual(['/a', '/b']);
    fixture.serve(pages, { '/a': '2026-01-01', '/b': '2026-01-02' });
    expect(await fixture.readAgain()).toMatchObject({ pages: 2, unchanged: 2 });
    expect(fixture.asked()).toEqual(['/b']);
    await fixture.readAgain(7 * 24);
    expect(fixture.asked()).toEqual(['/a', '/b']);
  });

  test('keeps pages on errors, stops after ten of them in a row, and is repeated an hour later', async () => {
    const paths = Array.from({ length: 14 }, (_, number) => `/${number}`);
    fixture.serve(Object.fromEntries(paths.map((path) => [path, page(`P${path.slice(1)}`, SHARED)])));
    await fixture.read();
    for (const path of paths.slice(2)) fixture.site.pages.set(path, { status: 500 });
    const read = await fixture.readAgain();
    expect(read).toMatchObject({ fault: 'away', pages: 14, unchanged: 2, failed: 10, gone: 0 });
    expect(fixture.asked()).toEqual(paths.slice(0, 12));
    for (const path of paths) fixture.site.pages.set(path, { body: page(`N${path.slice(1)}`, SHARED) });
    expect(await fixture.readAgain(1)).toMatchObject({ pages: 14, fetched: 14 });
  });

  test('keeps all pages if the sitemap cannot be read', async () => {
    fixture.serve({ '/a': page('A', SHARED) });
    await fixture.read();
    await found('A');
    const faults: [page: object, fault: string][] = [
      [{ status: 500 }, 'away'],
      [{ status: 404 }, 'failed'],
      [{ status: 403 }, 'refused'],
      [{ body: '<html><p>Please sign in</p></html>' }, 'failed'],
      [{ body: 'Please sign in', type: 'text/plain' }, 'failed'],
      [{ body: '' }, 'failed'],
      [{ status: 302, headers: { location: 'http://localhost:1/' } }, 'refused'],
    ];
    for (const [sitemap, fault] of faults) {
      fixture.site.pages.set('/sitemap.xml', sitemap);
      expect(await fixture.readAgain()).toMatchObject({ fault, pages: 1 });
    }
    expect(await fixture.knowledge.titles(SHARED)).toEqual(['A']);
    fixture.list([]);
    expect(await fixture.readAgain()).toMatchObject({ fault: undefined, pages: 0, gone: 1 });
    await found();
  });
});

describe('sitemaps', () => {
  test('may be an index, compressed, or a list of lines, with namespaces, entities and CDATA', async () => {
    const paths = ['/a', '/b?x=1&y=2', '/c', '/d', '/e', '/f'];
    for (const path of paths) fixture.site.pages.set(path, { body: page(path.slice(1, 2), SHARED) });
    const [a, b, c, d, e, f] = paths.map((path) => fixture.url(path)) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const child = `<x:urlset xmlns:x="s" xmlns:image="i"><x:url>
      <image:image><image:loc>${fixture.url('/picture')}</image:loc></image:image>
      <x:loc>  ${b.replace('&', '&#38;')}
      </x:loc></x:url><x:url><x:loc><![CDATA[${c}]]></x:loc></x:url></x:urlset>`;
    fixture.site.pages.set('/child.xml.gz', { body: gzipSync(child), type: 'application/gzip' });
    fixture.site.pages.set('/lines.xml', { body: `\uFEFF${d}\r\n\n# no address\n${e}\n`, type: 'text/plain' });
    fixture.site.pages.set('/coded.xml', {
      body: gzipSync(`<urlset><url><loc>${f}<url><loc>${a}</loc></url></urlset>`),
      type: 'text/xml',
      headers: { 'content-encoding': 'gzip' },
    });
    const children = ['/child.xml.gz', '/lines.xml', '/coded.xml'].map(
      (path) => `<sitemap><loc>${fixture.url(path)}</loc></sitemap>`,
    );
    fixture.site.pages.set('/sitemap.xml', {
      body: `<sitemapindex>${children.join('')}</sitemapindex>`,
      type: 'text/xml',
    });
    expect(await fixture.read()).toMatchObject({ pages: 6, fetched: 6, leftOut: [] });
    expect(fixture.asked()).toEqual(['/b?x=1&y=2', '/c', '/d', '/e', '/f', '/a']);
  });

  test('keep the pages of a child sitemap that could not be read, but not of one that is gone', async () => {
    for (const path of ['/a', '/b', '/c']) fixture.site.pages.set(path, { body: page(path.slice(1), SHARED) });
    const one = (path: string) => ({ body: `<urlset><url><loc>${fixture.url(path)}</loc></url></urlset>` });
    const children = ['/1.xml', '/2.xml', '/3.xml'].map((path) => `<sitemap><loc>${fixture.url(path)}</loc></sitemap>`);
    fixture.site.pages.set('/sitemap.xml', { body: `<sitemapindex>${children.join('')}</sitemapindex>` });
    fixture.site.pages.set('/1.xml', one('/a')).set('/2.xml', one('/b')).set('/3.xml', one('/c'));
    expect(await fixture.read()).toMatchObject({ pages: 3 });
    fixture.site.pages.set('/2.xml', { status: 500 });
    expect(await fixture.readAgain()).toMatchObject({
      pages: 3,
      gone: 0,
      leftOut: [{ reason: 'sitemap_unread', count: 1, first: fixture.url('/2.xml') }],
    });
    fixture.site.pages.delete('/2.xml');
    expect(await fixture.readAgain()).toMatchObject({ pages: 2, gone: 1 });
    await found('a', 'c');
  });

  test('have limits for pages and bytes, and count a page once', async () => {
    await fixture.end();
    fixture = await SiteFixture.start({ sites: { maxBytes: 4_000_000 } });
    fixture.serve({
      '/a': page('A', SHARED),
      '/moved': { status: 301, headers: { location: '/a' } },
      '/huge': { body: Buffer.alloc(2_200_000, 'x ') },
      '/large.txt': { body: Buffer.alloc(3_000_000, `${SHARED} large `), type: 'text/plain' },
      '/more.txt': { body: Buffer.alloc(2_000_000, `${SHARED} more `), type: 'text/plain' },
      '/picture.png': { body: 'x', type: 'image/png' },
      '/odd': { body: 'x', headers: { 'content-encoding': 'rot13' } },
      '/f': page('F', SHARED),
      '/g': page('G', SHARED),
    });
    const read = await fixture.read({ mostPages: 8 });
    expect(read).toMatchObject({ pages: 3, fetched: 3, failed: 0 });
    expect(read.leftOut).toEqual([
      { reason: 'too_many', count: 1, first: fixture.url('/g') },
      { reason: 'same_page', count: 1, first: fixture.url('/moved') },
      { reason: 'too_large', count: 1, first: fixture.url('/huge') },
      { reason: 'site_full', count: 1, first: fixture.url('/more.txt') },
      { reason: 'unknown_kind', count: 1, first: fixture.url('/picture.png') },
      { reason: 'unreadable', count: 1, first: fixture.url('/odd') },
    ]);
  });
});

test('stored pages of a site are readable by their own user only', async () => {
  fixture.serve({ '/a': page('A', SHARED) });
  await fixture.read();
  const root = fixture.knowledge.path('index/pages');
  const [site = ''] = readdirSync(root);
  const names = readdirSync(`${root}/${site}`).filter((name) => name.endsWith('.page'));
  expect(names).toHaveLength(1);
  expect(statSync(`${root}/${site}/${names[0]}`).mode & 0o077).toBe(0);
  expect(statSync(`${root}/${site}`).mode & 0o077).toBe(0);
});

test('a page that cannot be parsed is reported by its address', async () => {
  fixture.serve({ '/a.pdf': { body: '%PDF-1.7 and no more', type: 'application/pdf' }, '/empty': '<title>E</title>' });
  await fixture.read();
  await fixture.knowledge.until(() => (fixture.knowledge.told.documentsLeftOut.at(-1)?.reasons.length ?? 0) === 2);
  expect(fixture.knowledge.told.documentsLeftOut.at(-1)?.reasons).toEqual(
    expect.arrayContaining([
      { reason: 'broken', count: 1, first: fixture.url('/a.pdf') },
      { reason: 'no_text', count: 1, first: fixture.url('/empty') },
    ]),
  );
});
