import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkSources } from '../../../src/bot/knowledge/check-sources.ts';
import { parseKnowledgeFile } from '../../../src/bot/knowledge/knowledge-file.ts';
import { sitemapOf, startSmallSite, type SmallSite } from '../../support/small-site.ts';

let site: SmallSite;
beforeEach(async () => {
  site = await startSmallSite();
});
afterEach(() => site.close());

test('npm run check requests each site’s sitemap once and reports its pages or why it cannot be read', async () => {
  const named = (path: string) => `<sitemapindex><sitemap><loc>${site.url}${path}</loc></sitemap></sitemapindex>`;
  site.pages.set('/good', sitemapOf([`${site.url}/a`, `${site.url}/b`, 'https://elsewhere.example/']));
  site.pages.set('/outside', sitemapOf(['https://elsewhere.example/']));
  site.pages.set('/index', { body: named('/good') });
  site.pages.set('/page', { body: '<!doctype html><p>Welcome' });
  site.pages.set('/moved', { status: 301, headers: { location: 'https://elsewhere.example/sitemap.xml' } });
  site.pages.set('/closed', { status: 401 });
  site.pages.set('/broken', { status: 500 });
  const names = ['good', 'outside', 'index', 'page', 'moved', 'closed', 'broken', 'gone'];
  const sources = [
    ...names.map((name) => ({ name, sitemap: `${site.url}/${name}?token=secret`, readers: 'public' })),
    { name: 'nobody’s', sitemap: `${site.url}/good?token=secret` },
  ];
  for (const [path, page] of [...site.pages]) site.pages.set(`${path}?token=secret`, page);
  const { sources: parsed } = parseKnowledgeFile(JSON.stringify({ sources }), '/etc/knowledge.json');
  const results = await checkSources(parsed);
  const { host } = new URL(site.url);
  expect(results.map(({ verdict, detail }) => `${verdict} ${detail.replace(host, '')}`)).toEqual([
    'ok /good lists 3 pages, 1 of them outside the allowed addresses',
    'warning /outside lists one page, 1 of them outside the allowed addresses',
    'ok /index lists another sitemap',
    'fault /page: The address does not lead to a sitemap',
    'fault /moved: The sitemap cannot be read',
    'fault /closed: The sitemap returned status 401',
    'fault /broken: The sitemap returned status 500',
    'fault /gone: The sitemap does not exist',
    expect.stringMatching(/^warning \/good lists 3 pages.*no one can find its documents/),
  ]);
  for (const { verdict, nextStep } of results) expect(nextStep === undefined).toBe(verdict === 'ok');
  expect(JSON.stringify(results)).not.toContain('secret');
  expect(site.asked).toHaveLength(sources.length);
});
