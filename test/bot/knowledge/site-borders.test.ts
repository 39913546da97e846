import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseKnowledgeFile } from '../../../src/bot/knowledge/knowledge-file.ts';
import { createCrawlScope } from '../../../src/bot/knowledge/site/crawl-scope.ts';
import type { SitemapDefinition } from '../../../src/bot/knowledge/source-kinds.ts';
import { startSmallSite, type SmallSite } from '../../support/small-site.ts';
import { page, SiteFixture } from './site-fixture.ts';

let fixture: SiteFixture;
beforeEach(async () => {
  fixture = await SiteFixture.start();
});
afterEach(() => fixture.end());

const SHARED = 'otter';

function definition(more: object): SitemapDefinition {
  const sources = [{ name: 'site', sitemap: 'https://www.example.edu/sitemap.xml', ...more }];
  return parseKnowledgeFile(JSON.stringify({ sources }), '/etc/knowledge.json').sources[0] as SitemapDefinition;
}

describe('addresses in the scope of a site [site-borders]', () => {
  const at = (address: string, more: object = {}) =>
    createCrawlScope(definition(more), async () => []).pageAt(address)?.href;

  test.each([
    ['https://www.example.edu/a?b=c#d', 'https://www.example.edu/a?b=c'],
    ['http://www.example.edu/a', 'https://www.example.edu/a'],
    ['HTTPS://WWW.EXAMPLE.EDU:443/a', 'https://www.example.edu/a'],
  ])('include %s', (address, asked) => expect(at(address)).toBe(asked));

  test.each([
    'https://example.edu/a',
    'https://www.example.edu.evil.example/',
    'https://www.example.edu@evil.example/',
    'https://evil.example/https://www.example.edu/',
    'https://user:pass@www.example.edu/',
    'https://www.example.edu:8443/',
    'http://www.example.edu:8080/',
    'ftp://www.example.edu/',
    'file:///etc/passwd',
    '//www.example.edu/',
    '/a',
    '',
    `https://www.example.edu/${'a'.repeat(2_048)}`,
  ])('exclude %s', (address) => expect(at(address)).toBeUndefined());

  test('include only addresses below the named ones, if any are named', () => {
    const under = ['https://www.example.edu/library', 'https://docs.example.edu:8443/a/', 'http://old.example.edu'];
    const judged = (address: string) => at(address, { under });
    for (const address of [
      'https://www.example.edu/library',
      'https://www.example.edu/library/',
      'https://www.example.edu/library/a/b?c=d',
      'https://docs.example.edu:8443/a/b',
      'http://old.example.edu/x',
    ])
      expect(judged(address)).toBe(address);
    for (const address of [
      'https://www.example.edu/',
      'https://www.example.edu/library-staff/',
      'https://www.example.edu/library/../staff',
      'https://www.example.edu/library/%2e%2e/staff',
      'https://www.example.edu/library/..%2fstaff',
      'https://www.example.edu/library/..%5Cstaff',
      'https://www.example.edu/Library/',
      'https://docs.example.edu/a/b',
    ])
      expect(judged(address)).toBeUndefined();
  });

  test('may resolve to private networks but never to link-local, multicast or cloud metadata, and to loopback for a local site only', () => {
    const judge = (more: object) => createCrawlScope(definition(more), async () => []).ofPages.mayConnect;
    const elsewhere = judge({});
    for (const address of [
      '93.184.216.34',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.1.1',
      '2606:4700::1',
      'fd12::1',
    ])
      expect([address, elsewhere(address)]).toEqual([address, true]);
    const never = [
      ...['169.254.169.254', '169.254.0.23', '100.100.100.200', '0.0.0.0', '224.0.0.1', '255.255.255.255', '192.0.2.1'],
      ...[
        'fe80::1',
        'fe80::1%eth0',
        'febf::1',
        '::',
        'ff02::1',
        'fd00:ec2::254',
        '::ffff:169.254.169.254',
        '::ffff:10.0.0.1',
      ],
      ...['64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', 'localhost', ''],
    ];
    for (const mayConnect of [elsewhere, judge({ sitemap: 'http://localhost:8080/sitemap.xml' })])
      for (const address of never) expect([address, mayConnect(address)]).toEqual([address, false]);
    for (const sitemap of ['http://localhost:8080/s.xml', 'http://127.0.0.1/s.xml', 'http://[::1]:80/s.xml'])
      for (const address of ['127.0.0.1', '127.8.0.1', '::1'])
        expect([address, judge({ sitemap })(address), elsewhere(address)]).toEqual([address, true, false]);
    expect(judge({ sitemap: 'https://127.0.0.1.example.edu/s.xml' })('127.0.0.1')).toBe(false);
  });
});

describe('a site on another host [site-borders]', () => {
  test('is requested only at resolved addresses that are allowed', async () => {
    await fixture.knowledge.end();
    const asked: string[] = [];
    const resolve = async (hostname: string) => {
      asked.push(hostname);
      return [{ 'local.test': '127.0.0.1', 'meta.test': '169.254.169.254' }[hostname] ?? '192.0.2.1'];
    };
    const { site } = fixture;
    fixture = await SiteFixture.start({ sites: { resolve } }, site);
    const { port } = new URL(site.url);
    for (const name of ['local.test', 'meta.test']) {
      fixture.knowledge.use({ ...fixture.source(), name, sitemap: `http://${name}:${port}/sitemap.xml` });
      await fixture.knowledge.until(() => fixture.knowledge.told.siteRead.some(({ source }) => source === name));
    }
    expect(fixture.knowledge.told.siteRead.map(({ fault }) => fault)).toEqual(['refused', 'refused']);
    expect(asked).toEqual(['local.test', 'meta.test']);
    expect(site.asked).toEqual([]);
  });
});

describe('redirects [site-borders]', () => {
  let other: SmallSite;
  beforeEach(async () => {
    other = await startSmallSite();
    other.pages.set('/x', { body: page('Elsewhere', SHARED) });
  });
  afterEach(() => other.close());

  test('within a site are followed to the link of the page, and out of it are not followed', async () => {
    const to = (location: string) => ({ status: 302, headers: { location, 'set-cookie': 'session=1' } });
    fixture.serve({
      '/in/a': to('/in/b'),
      '/in/out': to(`${other.url}/x`),
      '/in/up': to('/out/page'),
      '/in/twice': to('/in/out'),
      '/in/user': to(fixture.url('/in/b').replace('//', '//user:pass@')),
      '/in/meta': to('http://169.254.169.254/latest/meta-data/'),
      '/in/file': to('file:///etc/passwd'),
      '/in/round': to('/in/round'),
    });
    fixture.site.pages.set('/in/b', { body: page('Inside', SHARED) });
    fixture.site.pages.set('/out/page', { body: page('Out', SHARED) });
    const read = await fixture.read({ under: [fixture.url('/in/')] });
    expect(read).toMatchObject({ pages: 1, fetched: 1, failed: 1 });
    expect(read.leftOut).toEqual([{ reason: 'leads_outside', count: 6, first: fixture.url('/in/out') }]);
    expect(other.asked).toEqual([]);
    expect(fixture.asked()).not.toContain('/out/page');
    await fixture.found(SHARED, 'Inside');
    expect((await fixture.knowledge.find(SHARED))[0]?.url).toBe(fixture.url('/in/b'));
    for (const { headers } of fixture.site.asked) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('authorization');
    }
  });

  test('out of the site remove a page that was indexed', async () => {
    fixture.serve({ '/a': page('A', SHARED) });
    await fixture.read();
    await fixture.found(SHARED, 'A');
    fixture.site.pages.set('/a', { status: 302, headers: { location: `${other.url}/x` } });
    expect(await fixture.readAgain()).toMatchObject({ pages: 0, gone: 1 });
    expect(other.asked).toEqual([]);
    await fixture.found(SHARED);
  });

  test('of a sitemap must stay on the site, like the sitemaps that it names', async () => {
    fixture.site.pages.set('/sitemap.xml', {
      body: `<sitemapindex><sitemap><loc>${other.url}/s.xml</loc></sitemap>
        <sitemap><loc>${fixture.url('/moved.xml')}</loc></sitemap><sitemap><loc>${fixture.url('/nested.xml')}</loc></sitemap>
        <sitemap><loc>${fixture.url('/sitemap.xml')}</loc></sitemap></sitemapindex>`,
    });
    fixture.site.pages.set('/moved.xml', { status: 301, headers: { location: `${other.url}/s.xml` } });
    fixture.site.pages.set('/nested.xml', {
      body: `<sitemapindex><sitemap><loc>${fixture.url('/more.xml')}</loc></sitemap></sitemapindex>`,
    });
    const read = await fixture.read();
    expect(read).toMatchObject({ pages: 0 });
    expect(read.leftOut.map(({ reason, count }) => [reason, count])).toEqual([
      ['sitemap_outside', 2],
      ['sitemap_unread', 1],
      ['sitemap_too_deep', 1],
    ]);
    expect(other.asked).toEqual([]);
    expect(fixture.site.asked.map(({ path }) => path)).toEqual(['/sitemap.xml', '/moved.xml', '/nested.xml']);
  });
});
