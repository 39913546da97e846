import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { fetchPage, FETCH_LIMITS, type FetchLimits } from '../../../src/shared/web/fetch-page.ts';
import { isPublicAddress } from '../../../src/shared/web/public-address.ts';
import { PUBLIC_WEB, type EgressPolicy } from '../../../src/shared/web/egress-policy.ts';
import { readPlainPieces } from '../../../src/shared/web/read-plain-body.ts';

let server: Server;
let port: number;
/** Number of connections to this machine. */
let connections = 0;
const requests: IncomingMessage[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  connections = 0;
  requests.length = 0;
  answer = (_, response) => void response.setHeader('content-type', 'text/html').end('inside');
});

/** The real rules except for port and scheme, so that forms of an address could reach the server if they were allowed. */
const LOOSE: EgressPolicy = { ...PUBLIC_WEB, protocols: ['http:', 'https:'], mayUsePort: () => true };
/** The only allowed target of the tests: one invented host on this machine. */
const ONE_SITE: EgressPolicy = {
  ...LOOSE,
  mayConnect: (address) => address === '127.0.0.1',
  resolve: async (hostname) =>
    hostname === 'site.test' ? ['127.0.0.1'] : hostname === 'two.test' ? ['127.0.0.1', '10.0.0.1'] : [],
};

const fetching = (address: string, egress: EgressPolicy = LOOSE, limits: FetchLimits = FETCH_LIMITS) =>
  fetchPage(address, { egress, limits }, new AbortController().signal);
const siteUrl = (path: string) => `http://site.test:${port}${path}`;

/** Internal hosts in every notation that a URL parser accepts. */
const INSIDE = [
  '127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0x7f.0x0.0x0.0x1', '017700000001',
  '0177.0.0.1', '0177.0x0.0.1', '127.000.000.001', '00177.0.0.01', '127.0.0.2', '127.255.255.254', '0', '0.0.0.0', '0x0',
  'localhost', 'LOCALHOST', 'localhost.', 'ｌｏｃａｌｈｏｓｔ', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1',
  '10.0.0.1', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0xc0a80101', '3232235777', '169.254.169.254',
  '0xa9fea9fe', '2852039166', '169.254.43518', '100.64.0.1', '100.127.255.254', '198.18.0.1', '192.0.2.1', '203.0.113.9',
  '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.0.0.192', '192.88.99.1',
  '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::FFFF:10.0.0.1]',
  '[0:0:0:0:0:ffff:169.254.169.254]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::1]',
  '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001::1]', '[2001:db8::1]', '[3fff::1]',
  '[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[100::1]', '[5f00::1]',
]; // prettier-ignore

describe('forms of an address [egress-checked]', () => {
  test('are at least 60', () => expect(new Set(INSIDE).size).toBeGreaterThanOrEqual(60));

  test.each(INSIDE)('do not reach an internal host: http://%s', async (host) => {
    // Refused, and not only unreachable from the test machine; with a dot, some machines do not resolve their own name.
    const code: unknown = host === 'localhost.' ? expect.stringMatching(/refused|unreachable/) : 'refused';
    await expect(fetching(`http://${host}:${port}/`)).rejects.toMatchObject({ code });
    expect(connections).toBe(0);
  });

  test.each([
    `http://public.test@127.0.0.1:{port}/`,
    `http://127.0.0.1:{port}@public.test/`,
    `http://public.test:pass@localhost:{port}/`,
    `http://public.test#@127.0.0.1:{port}/`,
    `http://public.test\\@127.0.0.1:{port}/`,
    `http:\\\\127.0.0.1:{port}\\`,
    `http:127.0.0.1:{port}/`,
    `http:/127.0.0.1:{port}/`,
    `  http://127.0.0.1:{port}/`,
    `ht\ntp://127.0.0.1:{port}/`,
    `http://127.0.0.1\t:{port}/`,
    '//127.0.0.1:{port}/',
    'file:///etc/passwd',
    'ftp://127.0.0.1:{port}/',
    'gopher://127.0.0.1:{port}/_x',
    'data:text/html,x',
    'javascript:1',
    'blob:http://127.0.0.1:{port}/',
    'ws://127.0.0.1:{port}/',
    'unix:/var/run/docker.sock',
    '/etc/passwd',
    '',
  ])('do not reach an internal host: %j', async (form) => {
    const egress = { ...LOOSE, resolve: async (host: string) => (host === 'public.test' ? [] : ['127.0.0.1']) };
    await expect(fetching(form.replace('{port}', String(port)), egress)).rejects.toMatchObject({ name: 'WebError' });
    expect(connections).toBe(0);
  });

  test('the strict rules allow only https on ports 443 and 80, without credentials', async () => {
    const egress: EgressPolicy = { ...PUBLIC_WEB, resolve: () => Promise.reject(new Error('looked up')) };
    const refused = { code: 'refused' };
    for (const address of [
      'http://a.test/',
      'https://a.test:8443/',
      'https://a.test:22/',
      'https://u:p@a.test/',
      'https://u@a.test/',
    ])
      await expect(fetching(address, egress)).rejects.toMatchObject(refused);
    for (const address of ['https://a.test/', 'https://a.test:443/', 'https://a.test:80/'])
      await expect(fetching(address, egress)).rejects.toMatchObject({ code: 'unreachable' });
    await expect(fetching(`https://127.0.0.1/`, PUBLIC_WEB)).rejects.toMatchObject(refused);
    await expect(fetching(`https://localhost/`, PUBLIC_WEB)).rejects.toMatchObject(refused);
  });

  test('an IPv4 address has one verdict in any notation, and an IPv6 address that contains one is never public', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
        for (const form of [String(number), `0x${number.toString(16)}`, `0${number.toString(8)}`])
          expect(isPublicAddress(new URL(`http://${form}/`).hostname)).toBe(isPublicAddress(address));
        const hex = `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
        for (const form of [
          `::ffff:${address}`,
          `::${address}`,
          `64:ff9b::${address}`,
          `2002:${hex}::`,
          `2001:0:${hex}::1`,
        ])
          expect(isPublicAddress(form)).toBe(false);
      }),
    );
  });

  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2400:3200::1'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
  test.each(['', 'localhost', '1.1.1', '2606:4700::1%eth0', '1.1.1.1 '])('%j is not an address', (address) =>
    expect(isPublicAddress(address)).toBe(false),
  );
});

describe('names [egress-checked]', () => {
  test('are refused unless all of their addresses are allowed', async () => {
    await expect(fetching(`http://two.test:${port}/`, ONE_SITE)).rejects.toMatchObject({ code: 'refused' });
    expect(connections).toBe(0);
  });

  test('are looked up once against DNS rebinding, and the connection goes to the checked address', async () => {
    let lookUps = 0;
    // First a public documentation address without a server, then this machine.
    const egress: EgressPolicy = {
      ...LOOSE,
      mayConnect: (address) => address === '192.0.2.1',
      resolve: async () => [(lookUps += 1) === 1 ? '192.0.2.1' : '127.0.0.1'],
    };
    const limits = { ...FETCH_LIMITS, totalMs: 400 };
    await expect(fetching(`http://localhost:${port}/`, egress, limits)).rejects.toMatchObject({ code: 'unreachable' });
    expect(lookUps).toBe(1);
    expect(connections).toBe(0);
  });

  test('are looked up and checked again at each redirect, against DNS rebinding', async () => {
    let lookUps = 0;
    answer = (_, response) => void response.writeHead(302, { location: '/next' }).end();
    const egress: EgressPolicy = {
      ...ONE_SITE,
      resolve: async () => [(lookUps += 1) === 1 ? '127.0.0.1' : '10.0.0.1'],
    };
    await expect(fetching(siteUrl('/'), egress)).rejects.toMatchObject({ code: 'refused' });
    expect(requests).toHaveLength(1);
  });

  test('are abandoned in time if the lookup hangs', async () => {
    const egress: EgressPolicy = { ...ONE_SITE, resolve: () => new Promise(() => undefined) };
    const limits = { ...FETCH_LIMITS, totalMs: 50 };
    await expect(fetching(siteUrl('/'), egress, limits)).rejects.toThrow('took too long');
  });
});

describe('redirects [egress-checked]', () => {
  test.each([
    'http://127.0.0.1:{port}/x',
    'http://[::1]:{port}/x',
    '//localhost:{port}/x',
    'file:///etc/passwd',
    'http://u:p@site.test:{port}/x',
    'http://inside.test/x',
    'https://169.254.169.254/latest/meta-data/',
  ])('to %s are refused', async (to) => {
    answer = (request, response) =>
      request.url === '/'
        ? response.writeHead(302, { location: to.replace('{port}', String(port)) }).end()
        : response.end('inside');
    const egress: EgressPolicy = {
      ...ONE_SITE,
      mayConnect: (address) => address === '127.0.0.9',
      resolve: async (host) => [host === 'site.test' ? '127.0.0.9' : '127.0.0.1'],
    };
    await expect(fetching(siteUrl('/'), egress)).rejects.toMatchObject({ name: 'WebError' });
    expect(requests.map(({ url }) => url)).toEqual(['/']);
  });

  test('are followed three times, and a fourth is not', async () => {
    const countdown = (from: number) => {
      answer = (request, response) => {
        const left = Number(request.url?.slice(1));
        if (left > 0) response.writeHead(307, { location: `/${left - 1}` }).end();
        else response.setHeader('content-type', 'text/plain').end('there');
      };
      return fetching(siteUrl(`/${from}`), ONE_SITE);
    };
    expect((await countdown(3)).body.toString()).toBe('there');
    await expect(countdown(4)).rejects.toThrow('redirects too often');
  });

  test('do not wait for a body, and close its connection', async () => {
    const closed = new Promise<void>((resolve) => {
      answer = (request, response) => {
        if (request.url === '/there') return void response.setHeader('content-type', 'text/plain').end('there');
        response.writeHead(302, { location: '/there' }).once('close', resolve).write('moved');
      };
    });
    // The end of the time limit would close it, too.
    const limits = { ...FETCH_LIMITS, totalMs: 60_000 };
    expect(await fetching(siteUrl('/'), ONE_SITE, limits)).toMatchObject({ url: { href: siteUrl('/there') } });
    await closed;
  });

  test('send no cookies and no credentials, even after a redirect that sets some', async () => {
    answer = (request, response) =>
      request.url === '/'
        ? response.writeHead(302, { location: '/b', 'set-cookie': 'a=b' }).end()
        : response.setHeader('content-type', 'text/html').end('x');
    await fetching(siteUrl('/'), ONE_SITE);
    expect(requests).toHaveLength(2);
    for (const { headers } of requests) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('authorization');
      expect(headers.host).toBe(`site.test:${port}`);
    }
  });
});

describe('10 s and 2 MB [egress-checked]', () => {
  test('are the limits', () => expect(FETCH_LIMITS).toEqual({ redirects: 3, totalMs: 10_000, bodyBytes: 2_097_152 }));

  const BOMB = Buffer.alloc(64 * 1_024 * 1_024);
  test.each<[string, string, () => Buffer]>([
    ['gzip', 'gzip', () => gzipSync(BOMB)],
    ['deflate', 'deflate', () => deflateSync(BOMB)],
    ['brotli', 'br', () => brotliCompressSync(BOMB, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('apply to a %s bomb, which is refused after 2 MB', async (_, encoding, make) => {
    const bomb = make();
    answer = (__, response) =>
      void response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(bomb);
    const before = process.memoryUsage().rss;
    await expect(fetching(siteUrl('/'), ONE_SITE)).rejects.toThrow('too large');
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1_024 * 1_024);
  });

  test('apply to an endless body, which is cut after 2 MB, with or without compression', async () => {
    for (const encoding of ['gzip', 'identity']) {
      // Empty gzip members expand to nothing.
      const piece =
        encoding === 'gzip' ? Buffer.concat(Array<Buffer>(1_000).fill(gzipSync(''))) : Buffer.alloc(20_000, 'x');
      const closed = new Promise<void>((resolve) => {
        answer = (_, response) => {
          response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).once('close', resolve);
          const write = () => response.destroyed || response.write(piece, () => setImmediate(write));
          write();
        };
      });
      await expect(fetching(siteUrl('/'), ONE_SITE)).rejects.toThrow('too large');
      await closed;
    }
  });

  test('end a slow response at the time limit, and its connection', async () => {
    let timer: NodeJS.Timeout | undefined;
    const closed = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).once('close', resolve);
        timer = setInterval(() => response.write('x'), 10);
      };
    });
    await expect(fetching(siteUrl('/'), ONE_SITE, { ...FETCH_LIMITS, totalMs: 1_500 })).rejects.toThrow(
      'took too long',
    );
    await closed;
    clearInterval(timer);
  });

  test("do not delay an abort, which ends the request with the caller's reason", async () => {
    const ending = new AbortController();
    answer = () => ending.abort(new Error('stopped'));
    await expect(fetchPage(siteUrl('/'), { egress: ONE_SITE }, ending.signal)).rejects.toThrow('stopped');
  });

  test('allow a page within the limits in every compression', async () => {
    for (const [encoding, body] of [
      ['gzip', gzipSync('有')],
      ['deflate', deflateSync('有')],
      ['br', brotliCompressSync('有')],
      ['identity', Buffer.from('有')],
    ] as const) {
      answer = (_, response) =>
        void response
          .writeHead(200, { 'content-type': 'Text/HTML; charset="utf-8"', 'content-encoding': encoding })
          .end(body);
      expect(await fetching(siteUrl('/a#b'), ONE_SITE)).toMatchObject({
        url: { href: siteUrl('/a') },
        mediaType: 'text/html',
        charset: 'utf-8',
        body: Buffer.from('有'),
      });
    }
  });

  test('hold for a body that arrives byte by byte, which uses no more memory', async () => {
    async function* bytes() {
      for (let at = 0; at < 200_000; at += 1) yield Buffer.from([at % 256]);
    }
    const pieces = await readPlainPieces(bytes(), undefined, 200_000);
    expect(pieces.length).toBeLessThanOrEqual(4);
    expect(Buffer.concat(pieces)).toEqual(Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 256)));
    await expect(readPlainPieces(bytes(), undefined, 199_999)).rejects.toMatchObject({ code: 'too_large' });
    expect(await readPlainPieces(Readable.from([]), undefined, 1)).toEqual([]);
  });

  test('a response that is not a text page, or has an unrequested encoding, is refused', async () => {
    const headers: Record<string, string>[] = [
      { 'content-type': 'image/png' },
      {},
      { 'content-type': 'text/html', 'content-encoding': 'gzip, gzip' },
      { 'content-type': 'text/html', 'content-encoding': 'constructor' },
    ];
    for (const sent of headers) {
      answer = (_, response) => void response.writeHead(200, sent).end('x');
      await expect(fetching(siteUrl('/'), ONE_SITE)).rejects.toMatchObject({ code: 'unusable' });
    }
    answer = (_, response) => void response.writeHead(404).end();
    await expect(fetching(siteUrl('/'), ONE_SITE)).rejects.toThrow('status 404');
  });
});
