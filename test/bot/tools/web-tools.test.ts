import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PUBLIC_WEB, type EgressPolicy } from '../../../src/shared/web/egress-policy.ts';
import { NamedAddresses } from '../../../src/bot/tools/named-addresses.ts';
import { createReadPage } from '../../../src/bot/tools/read-page.ts';
import { createBraveSearch } from '../../../src/bot/tools/search/brave.ts';
import { createSearxngSearch } from '../../../src/bot/tools/search/searxng.ts';
import type { Tool } from '../../../src/bot/tools/tool.ts';
import { createWebSearch } from '../../../src/bot/tools/web-search.ts';

let server: Server;
let origin: string;
const requests: { request: IncomingMessage; body: string }[] = [];
let answer: (response: ServerResponse, request: IncomingMessage) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      requests.push({ request, body });
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void requests.splice(0));

/** Allows connections to the test server on this machine only. */
const HERE: EgressPolicy = {
  ...PUBLIC_WEB,
  protocols: ['http:'],
  mayUsePort: () => true,
  mayConnect: (address) => address === '127.0.0.1',
};

function use(tool: Tool, args: object, texts: string[] = []): { status: string; run: () => Promise<string> } {
  const context = {
    person: undefined,
    place: { kind: 'private' as const, id: 'u' },
    language: 'zh' as const,
    isNamed: (address: string) => new NamedAddresses(texts).has(address),
    cite: () => 1,
  };
  const prepared = tool.prepare(JSON.stringify(args), context);
  if ('fault' in prepared) throw new Error(prepared.fault);
  return { status: prepared.status, run: () => prepared.run(new AbortController().signal) };
}

const json = (value: unknown) => (response: ServerResponse) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
const page =
  (body: string | Buffer, type = 'text/html; charset=utf-8') =>
  (response: ServerResponse) =>
    void response.setHeader('content-type', type).end(body);

describe('web_search', () => {
  const FOUND = '1. Otters of the world\nhttps://otters.test/\nThey swim & play.\n\n2. More\nhttps://more.test/';

  test('queries SearXNG with its JSON API, with the query in the body', async () => {
    answer = json({
      results: [
        { title: 'Otters of\nthe world', url: 'https://otters.test/', content: 'They <b>swim</b> & play.' },
        { title: 'Bad', url: 'javascript:alert(1)', content: '' },
        { title: 'More', url: 'https://more.test/', content: null },
      ],
    });
    const { status, run } = use(createWebSearch(createSearxngSearch(origin)), { query: 'sea otters' });
    expect(status).toBe('正在搜索：sea otters');
    expect(await run()).toBe(FOUND);
    expect(requests[0]?.request).toMatchObject({ method: 'POST', url: '/search' });
    expect(requests[0]?.body).toBe('q=sea+otters&format=json');
  });

  test('queries Brave with its key in a header', async () => {
    answer = json({
      web: {
        results: [
          {
            title: 'Otters of the world',
            url: 'https://otters.test/',
            description: 'They <strong>swim</strong> & play.',
          },
          { title: 'More', url: 'https://more.test/' },
        ],
      },
    });
    expect(await use(createWebSearch(createBraveSearch('brave-key-1', origin)), { query: '水獭' }).run()).toBe(FOUND);
    expect(requests[0]?.request.url).toBe('/res/v1/web/search?q=%E6%B0%B4%E7%8D%AD');
    expect(requests[0]?.request.headers['x-subscription-token']).toBe('brave-key-1');
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['a refusal', (response) => void response.writeHead(403).end('{}')],
    ['a redirect', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['HTML', page('<html>')],
    ['an oversized answer', (response) => void response.end('x'.repeat(2_000_000))],
  ])('%s is reported without address, query or key [secrets-stay-inside]', async (_, given) => {
    answer = given;
    for (const search of [createSearxngSearch(origin), createBraveSearch('brave-key-1', origin)]) {
      const failure = await use(createWebSearch(search), { query: 'canary' }).run().catch(String);
      expect(failure).toMatch(/^ToolError: The search service (refused the search|cannot be used at the moment)\.$/);
    }
  });

  test('finds nothing in JSON of another shape', async () => {
    for (const given of [{}, { results: 5 }, { web: null }, []]) {
      answer = json(given);
      for (const search of [createSearxngSearch(origin), createBraveSearch('brave-key-1', origin)])
        expect(await use(createWebSearch(search), { query: 'x' }).run()).toBe('Nothing was found.');
    }
  });
});

describe('read_page', () => {
  const reading = (texts: string[], address = `${origin}/a?b=1`) => use(createReadPage(HERE), { address }, texts).run();

  test('returns the article without navigation and footer', async () => {
    const words = 'Otters swim in rivers and in the sea, and they like to play. '.repeat(20);
    answer = page(
      `<html><head><title>Otters</title><style>x{}</style><script>bad()</script></head><body><nav><a href="/">Home menu</a></nav>` +
        `<article><h1>All about otters</h1><p>${words}</p><p>Second line.</p></article><footer>Imprint</footer></body></html>`,
    );
    const text = await reading([`see ${origin}/a?b=1`]);
    expect(text).toContain(`Address: ${origin}/a?b=1\nTitle: Otters\n\n`);
    expect(text).toMatch(/and they like to play\.\nSecond line\.$/);
    expect(text).not.toMatch(/bad\(\)|x\{\}|Home menu|Imprint/);
  });

  test.each<[string, string | Buffer, string, string]>([
    ['a page without an article', '<html><body><p>short</p></body></html>', 'text/html', 'short'],
    [
      'hidden elements of a page without an article',
      '<script>bad()</script><style>x{}</style><template>mould</template><noscript>off</noscript><svg><text>sign</text></svg><p>short   and\tplain</p>',
      'text/html',
      'short and plain',
    ],
    ['a fragment', '<p>one<p>two', 'text/html', 'one\ntwo'],
    ['plain text', 'a < b\n', 'text/plain', 'a < b\n'],
    ['nothing', '', 'text/html', ''],
    ['GBK by the header', Buffer.from([0xd6, 0xd0, 0xce, 0xc4]), 'text/plain; charset=gbk', '中文'],
    [
      'GBK by the page',
      Buffer.concat([Buffer.from('<html><meta charset="gb2312"><body>'), Buffer.from([0xd6, 0xd0, 0xce, 0xc4])]),
      'text/html',
      '中文',
    ],
    ['Windows-1252', Buffer.from('934e6f9420962080', 'hex'), 'text/plain; charset=iso-8859-1', '“No” – €'],
    ['an unknown encoding', '有', 'text/plain; charset=klingon', '有'],
  ])('%s', async (_, body, type, expected) => {
    answer = page(body, type);
    expect(await reading([origin + '/a?b=1'])).toBe(`Address: ${origin}/a?b=1\n\n${expected}`);
  });

  test('returns the final address of a page that has moved', async () => {
    answer = (response, { url }) =>
      url === '/old' ? void response.writeHead(301, { location: '/new' }).end() : page('here', 'text/plain')(response);
    expect(await reading([`${origin}/old`], `${origin}/old`)).toBe(`Address: ${origin}/new\n\nhere`);
  });

  test.each<[string, (text: string) => string]>([
    ['data in the query', (url) => `${url}&name=zhangwei`],
    ['data in the path', (url) => url.replace('/a', '/zhangwei')],
    ['data in the host', (url) => url.replace('127.0.0.1', 'zhangwei.127.0.0.1.test')],
  ])('refuses an address that was not mentioned: %s', async (_, alter) => {
    const written = `${origin}/a?b=1`;
    await expect(reading([`see ${written} please`, 'zhangwei'], alter(written))).rejects.toMatchObject({
      code: 'refused',
    });
    expect(requests).toHaveLength(0);
  });

  test('opens an address as written: without a scheme, within punctuation, in any spelling of the parser', async () => {
    answer = page('x', 'text/plain');
    const host = origin.slice('http://'.length);
    for (const [text, address] of [
      [`（${host}/路）`, `${origin}/路`],
      [`<${origin}/>`, origin],
      [`${origin}/a.`, `${origin}/a`],
      [`${origin}/%E8%B7%AF`, `${origin}/路`],
    ] as const)
      expect(await reading([text], address)).toContain('x');
  });
});

describe('named addresses [named-addresses]', () => {
  test.each([
    ['see https://docs.example/a, please', 'https://docs.example/a', true],
    ['see https://docs.example/a, please', 'http://DOCS.example/a/', true],
    ['[x](https://docs.example/a)', 'https://docs.example/a', true],
    ['https://docs.example/Foo_(bar)', 'https://docs.example/Foo_(bar)', true],
    ['请看https://docs.example/a谢谢', 'https://docs.example/a', true],
    ['请看docs.example/a。', 'https://docs.example/a', true],
    ['https://docs.example/about', 'https://docs.example/a', false],
    ['https://docs.example/a', 'https://docs.example/a?b', false],
    ['https://docs.example/a?b=1', 'https://docs.example/a', false],
    ['https://docs.example.evil.example/', 'https://docs.example', false],
    ['https://docs.example/a', 'https://docs.example@evil.example/a', false],
    ['https://docs.example@evil.example/', 'https://evil.example/', false],
  ])('%s names %s: %s', (text, address, isNamed) => expect(new NamedAddresses([text]).has(address)).toBe(isNamed));

  test('do not include an address that only echoes the model’s own words', () => {
    const named = new NamedAddresses(['https://docs.example/']);
    named.add(
      'No results for https://evil.example/?q=1. See https://found.example/x',
      '{"query":"https://evil.example/?q=1"}',
    );
    expect(['https://evil.example/?q=1', 'https://found.example/x'].map((address) => named.has(address))).toEqual([
      false,
      true,
    ]);
    expect([...named.hosts]).toEqual(['docs.example', 'found.example']);
  });
});
