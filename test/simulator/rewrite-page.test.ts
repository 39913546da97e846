import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { originHeader, siteOf, worstSite } from '../../src/simulator/browser/fetch-metadata.ts';
import { FrameAddresses } from '../../src/simulator/browser/frame-address.ts';
import { rewriteHeaders, rewriteHtml } from '../../src/simulator/browser/rewrite-page.ts';

const BOT = 'http://127.0.0.1:8080';
const SERVICE = 'http://127.0.0.1:8081';
const addresses = new FrameAddresses([BOT, SERVICE]);
const rewrite = (page: string) => rewriteHtml(page, { addresses, pageUrl: new URL(`${BOT}/link/x`) });

describe('addresses of a frame', () => {
  test('map an address of an allowed origin to a path and back', () => {
    fc.assert(
      fc.property(
        fc.webPath(),
        fc.webQueryParameters(),
        fc.constantFrom(BOT, SERVICE),
        fc.constantFrom(BOT, SERVICE),
        (path, query, origin, current) => {
          const target = new URL(`${origin}/p${path}?q=1&${query}`);
          const found = addresses.targetOf(addresses.pathOf(target, current));
          const url =
            found.kind === 'here' ? current + found.path : found.kind === 'elsewhere' ? found.url.href : found.kind;
          expect(url).toBe(target.href);
        },
      ),
    );
  });

  test('map every other address to the page that displays it', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (address) => {
        const found = addresses.targetOf(addresses.pathOf(new URL(address), BOT));
        expect(found).toEqual({ kind: 'outside', url: new URL(address).href });
      }),
    );
  });

  test('treat an unknown index as a normal path', () => {
    expect(addresses.targetOf('/~to/7/x')).toEqual({ kind: 'here', path: '/~to/7/x' });
  });
});

describe('pages in a frame', () => {
  test.each([
    [`<a href="${BOT}/a?b=1&amp;c=2">`, '<a href="/a?b=1&amp;c=2">'],
    [`<a href='${SERVICE}/a'>`, "<a href='/~to/1/a'>"],
    [`<form method=post action="${SERVICE}/consent">`, '<form method=post action="/~to/1/consent">'],
    ['<a href="//example.org/x">', '<a href="/~outside?url=http%3A%2F%2Fexample.org%2Fx">'],
    ['<a href="relative?x=1" title="a > b">', '<a href="relative?x=1" title="a > b">'],
    ['<a href="/root" target="_blank">', '<a href="/root">'],
    ['<a href="mailto:a@b.c">', '<a href="mailto:a@b.c">'],
    [
      `<meta http-equiv="refresh" content="0; url=${SERVICE}/x">`,
      '<meta http-equiv="refresh" content="0; url=/~to/1/x">',
    ],
    [`<p>${SERVICE}/x</p>`, `<p>${SERVICE}/x</p>`],
  ])('have rewritten addresses: %s', (page, expected) => expect(rewrite(page)).toBe(expected));

  test('contain no absolute link that leaves the frame', () => {
    const attribute = fc.constantFrom('href', 'src', 'action', 'formaction');
    fc.assert(
      fc.property(
        attribute,
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.constantFrom('"', "'"),
        (name, url, quote) => {
          const escaped = url.replaceAll('&', '&amp;').replaceAll("'", '&#39;');
          expect(rewrite(`<a x="1" ${name}=${quote}${escaped}${quote}>`)).toMatch(/="\/~outside|='\/~outside/);
        },
      ),
    );
  });

  test('keep text without tags unchanged', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('<')),
        (text) => expect(rewrite(text)).toBe(text),
      ),
    );
  });

  test('keep their policy except for the rules about framing and forms', () => {
    const headers = {
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; form-action 'self' https://x",
      'x-frame-options': 'DENY',
      'set-cookie': ['a=1'],
    };
    expect(rewriteHeaders(headers, 'http://127.0.0.1:8082')).toEqual({
      'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors http://127.0.0.1:8082",
      'cache-control': 'no-store',
    });
  });
});

describe('request headers of the in-app browser', () => {
  test.each([
    [BOT, `${BOT}/x`, 'same-origin'],
    [BOT, `${SERVICE}/x`, 'same-site'],
    [BOT, 'http://localhost:8080/', 'cross-site'],
    ['https://a.example', 'http://a.example/', 'cross-site'],
  ])('mark %s → %s as %s', (from, to, site) => expect(siteOf(from, new URL(to))).toBe(site));

  test('depend on the most distant site of a redirect chain', () =>
    expect(worstSite('cross-site', 'same-origin')).toBe('cross-site'));

  test.each([
    ['', BOT, BOT],
    ['no-referrer', BOT, 'null'],
    ['same-origin', BOT, BOT],
    ['same-origin', SERVICE, 'null'],
    ['strict-origin', SERVICE, BOT],
  ])('under the referrer policy %j a form to %s has the origin %s', (referrerPolicy, to, expected) => {
    const url = new URL(to);
    expect(originHeader({ origin: BOT, referrerPolicy }, url, siteOf(BOT, url))).toBe(expected);
  });
});
