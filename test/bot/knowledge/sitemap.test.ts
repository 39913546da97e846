import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { readSitemap, type SitemapEntry } from '../../../src/bot/knowledge/site/read-sitemap.ts';
import { SiteFixture } from './site-fixture.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';
import { testTier } from '../../support/tries.ts';

const MIB = 1_024 * 1_024;
const never = new AbortController().signal;

async function read(text: string | Buffer): Promise<{ kind: string | undefined; entries: SitemapEntry[] }> {
  const entries: SitemapEntry[] = [];
  const kind = await readSitemap([Buffer.from(text)], (entry) => void entries.push(entry), never);
  return { kind, entries };
}

/** Counts the turns of the event loop during the work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function look() {
    turns += 1;
    next = setImmediate(look);
  });
  await work();
  clearImmediate(next);
  return turns;
}

/** Size of a hostile sitemap. MiB. */
const HOSTILE_MIB = testTier() === 'long' ? 20 : 5;
/** Far above the real cost and far below that of a non-linear algorithm. */
const MAX_MS_PER_MIB = 1_500;
/** The event loop gets a turn at least after this much text. */
const MAX_MIB_PER_TURN = 6;

describe('a hostile sitemap is read in linear time without blocking the event loop [site-borders]', () => {
  const fill = (text: string, mib = HOSTILE_MIB) => text.repeat(Math.floor((mib * MIB) / text.length));
  test.each<[what: string, text: () => string]>([
    ['many entries', () => `<urlset>${fill('<url><loc>https://www.example.edu/a</loc></url>')}</urlset>`],
    ['deep nesting', () => `<urlset><url>${fill('<a>')}`],
    ['deep nesting of entries', () => `<urlset>${fill('<url>')}`],
    ['ends without a beginning', () => `<urlset><url>${fill('</a>')}`],
    ['entities', () => `<urlset><url><loc>${fill('&#x61;')}</loc></url></urlset>`],
    ['unterminated entities', () => `<urlset><url><loc>${fill('&amp', 4)}</loc></url></urlset>`],
    ['one long name', () => `<urlset><${fill('a')}`],
    ['one long attribute', () => `<urlset><url a="${fill('x')}`],
    ['many attributes', () => `<urlset><url ${fill('a="b" ')}`],
    ['one long remark', () => `<urlset><!--${fill('-')}`],
    ['blanks', () => `<urlset><url><loc>${fill(' ')}https://www.example.edu/</loc></url></urlset>`],
    ['one long line', () => fill('https://www.example.edu/')],
    ['short lines', () => fill('a\n')],
    ['zeros', () => fill('\0')],
  ])(
    '%s',
    async (_, make) => {
      const bytes = Buffer.from(make());
      let entries = 0;
      let chars = 0;
      const spentMs = measureProcessorTime();
      const turns = await turnsDuring(() =>
        readSitemap(
          [bytes],
          ({ address }) => {
            entries += 1;
            chars = Math.max(chars, address.length);
          },
          never,
        ),
      );
      expect(spentMs()).toBeLessThan(HOSTILE_MIB * MAX_MS_PER_MIB);
      expect(turns).toBeGreaterThan(HOSTILE_MIB / MAX_MIB_PER_TURN);
      expect(chars).toBeLessThanOrEqual(2_049);
      expect(entries).toBeLessThan(600_000);
    },
    60_000,
  );

  test('entities defined in the document are not expanded', async () => {
    const laughs = Array.from({ length: 20 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');
    const text = `<!DOCTYPE urlset [<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">${laughs}]>
      <urlset><url><loc>https://www.example.edu/&l20;&f;</loc></url></urlset>`;
    expect(await read(text)).toEqual({
      kind: 'pages',
      entries: [{ address: 'https://www.example.edu/&l20;&f;', lastModified: undefined }],
    });
  });

  test('a sitemap that unpacks to more than 20 MiB, or never ends, is rejected', async () => {
    const fixture = await SiteFixture.start();
    try {
      const bomb = gzipSync(`<urlset>${' '.repeat(64 * MIB)}</urlset>`);
      const serve = [
        { body: bomb, type: 'application/gzip' },
        { body: bomb, type: 'text/xml', headers: { 'content-encoding': 'gzip' } },
        { body: gzipSync(bomb), type: 'application/gzip' },
        {
          answer: (__: unknown, response: ServerResponse) => {
            response.writeHead(200, { 'content-type': 'text/xml' });
            const piece = Buffer.alloc(MIB, '<url>');
            const write = () => response.destroyed || response.write(piece, () => setImmediate(write));
            write();
          },
        },
      ];
      fixture.site.pages.set('/sitemap.xml', serve[0] ?? {});
      expect(await fixture.read()).toMatchObject({ fault: 'failed', pages: 0 });
      for (const sitemap of serve.slice(1)) {
        fixture.site.pages.set('/sitemap.xml', sitemap);
        expect(await fixture.readAgain()).toMatchObject({ fault: 'failed', pages: 0 });
      }
    } finally {
      await fixture.end();
    }
  }, 60_000);

  test('an abort ends the reading early', async () => {
    const ending = new AbortController();
    const bytes = Buffer.from(`<urlset>${'<url><loc>https://a.example/</loc></url>'.repeat(200_000)}</urlset>`);
    let entries = 0;
    const take = () => {
      if ((entries += 1) === 10) ending.abort(new Error('ended'));
    };
    await expect(readSitemap([bytes], take, ending.signal)).rejects.toThrow('ended');
    expect(entries).toBeLessThan(5_000);
  });
});

describe('any sitemap', () => {
  const address = fc.webUrl({ withQueryParameters: true }).filter((url) => url.length < 2_000);
  const lastmod = fc.option(fc.constantFrom('2026-01-02', '2026-01-02T03:04:05+08:00'), { nil: undefined });

  test('yields the entries written into it, in any XML notation', async () => {
    const escape = fc.constantFrom<(text: string) => string>(
      (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&apos;'),
      (text) => [...text].map((letter) => `&#${letter.codePointAt(0)};`).join(''),
      (text) => [...text].map((letter) => `&#x${letter.codePointAt(0)?.toString(16)};`).join(''),
      (text) => `<![CDATA[${text}]]>`,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(address, lastmod, escape), { maxLength: 20 }),
        fc.constantFrom('', 'sm:'),
        fc.constantFrom('', ' ', '\n\t', '<!-- <url> -->', '<other><loc>x</loc></other>'),
        async (entries, prefix, between) => {
          const urls = entries.map(([url, day, write]) => {
            const last = day === undefined ? '' : `<${prefix}lastmod>${day}</${prefix}lastmod>`;
            return `<${prefix}url>${between}<${prefix}loc>${write(url)}</${prefix}loc>${last}</${prefix}url>${between}`;
          });
          const text = `<?xml version="1.0"?>\n<${prefix}urlset a="<url>">${urls.join('')}</${prefix}urlset>`;
          expect((await read(text)).entries).toEqual(
            entries.map(([url, day]) => ({ address: url, lastModified: day })),
          );
        },
      ),
    );
  });

  test('yields the same entries however its bytes are split', async () => {
    const urls = Array.from(
      { length: 30 },
      (_, at) => `<url>\n<loc>https://a.example/文${at}?a=1&amp;b=&#x6587;</loc><x:a b="<loc>"/></url>`,
    );
    const texts = [
      `<!-- x --><urlset>${urls.join('')}<url><loc><![CDATA[https://a.example/last]]></loc></url></urlset>`,
    ];
    texts.push(Array.from({ length: 50 }, (_, at) => `https://a.example/文${at}`).join('\r\n'));
    for (const text of texts) {
      const whole = await read(text);
      expect(whole.entries.length).toBeGreaterThan(30);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 2_500 })), async (cuts) => {
          const bytes = Buffer.from(text);
          const places = [0, ...cuts.sort((one, other) => one - other), bytes.length];
          const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
          const entries: SitemapEntry[] = [];
          await readSitemap(pieces, (entry) => void entries.push(entry), never);
          expect(entries).toEqual(whole.entries);
        }),
      );
    }
  });

  test('is read without an error, whatever its bytes', async () => {
    const parts = fc.constantFrom(
      ...[
        '<urlset>',
        '<url>',
        '<loc>',
        '</loc>',
        '</url>',
        '<lastmod>',
        '</',
        '<',
        '>',
        '&',
        '&#',
        ';',
        '<![CDATA[',
        ']]>',
      ],
      ...[
        '<!--',
        '-->',
        '"',
        "'",
        '=',
        'x',
        ' ',
        '\n',
        '<sitemapindex>',
        '<sitemap>',
        'https://a.example/',
        '\0',
        '文',
        '<?',
        '?>',
      ],
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.array(parts, { maxLength: 60 }).map((list) => list.join('')),
          fc.string(),
        ),
        async (text) => {
          const { entries } = await read(text);
          for (const entry of entries) expect(entry.address.trim()).not.toBe('');
        },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        await read(Buffer.from(bytes));
      }),
    );
  });
});
