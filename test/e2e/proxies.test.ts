import { checkProxies } from '../../src/cli/check/check-proxies.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { configureProxy, proxyFor } from '../../src/shared/http/proxy-config.ts';
import { callService } from '../../src/bot/identity/oauth/call-service.ts';
import { fetchPage } from '../../src/shared/web/fetch-page.ts';
import { requestBounded } from '../../src/bot/platforms/bounded-request.ts';
import type { ServiceReport } from '../../src/service/service-report.ts';
import { createPassThrough } from '../../src/service/upstream/pass-through.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { listen, type ListeningServer } from '../../src/shared/http/http-server.ts';
import { folderWith, loadSound, SERVING, without } from '../bot/config/environments.ts';
import { startParleyProcess } from '../support/parley-process.ts';
import {
  startProxyStandIn,
  startTlsStandIn,
  TEST_CERTIFICATE,
  type ProxyStandIn,
  type StandIn,
} from '../support/proxy-stand-in.ts';

const NO_WAY = { httpsProxy: undefined, httpProxy: undefined, noProxy: [] };
let redis: EmbeddedRedis;
let proxy: ProxyStandIn;
let world: StandIn;
let plain: ListeningServer;
const reached: string[] = [];

beforeAll(async () => {
  redis = await startEmbeddedRedis();
  world = await startTlsStandIn((request, response) => {
    reached.push(`${request.headers.host}${request.url}`);
    const body = request.url?.endsWith('/models')
      ? { data: [{ id: 'svc-plus' }, { id: 'svc-max' }] }
      : { choices: [{}], ok: true, user: 'parley', team: 'Campus' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  plain = await listen(
    (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${request.headers.host}</p>`);
    },
    0,
    '127.0.0.1',
  );
  const plainPort = Number(new URL(plain.url).port);
  proxy = await startProxyStandIn((place) =>
    place.startsWith('closed.') ? undefined : place.endsWith(':443') ? world.port : plainPort,
  );
});
afterEach(() => {
  configureProxy(NO_WAY);
  proxy.asked.length = 0;
  reached.length = 0;
});
afterAll(async () => {
  await proxy.close();
  await world.close();
  await plain.close();
  await redis.stop();
});

test('chat, sign-in and platforms are reached through the proxy, and internal hosts directly', async () => {
  const folder = folderWith({ 'certificate.pem': TEST_CERTIFICATE });
  const wecom = Object.keys(SERVING).filter((name) => name.startsWith('WECOM_'));
  const check = await startParleyProcess({
    command: ['node', 'dist/main.js', 'check'],
    env: {
      ...without(SERVING, ...wecom),
      ...{ SLACK_SIGNING_SECRET: 'signing-secret', SLACK_BOT_TOKEN: 'xoxb-1-token', SIGN_IN_PROOF: 'same-id' },
      ...{ CHAT_BASE_URL: 'https://chat.example.test/v1', SIGN_IN_URL: 'https://sign-in.example.test' },
      ...{ SLACK_API_URL: 'https://slack.example.test/api/', PUBLIC_URL: 'https://bot.inside.test' },
      ...{ REDIS_URL: redis.url, PORT: '18473' },
      ...{ HTTPS_PROXY: `http://user:pass%20word@127.0.0.1:${proxy.port}`, no_proxy: '.inside.test' },
      NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem'),
    },
  });
  await check.ended;
  expect(check.output()).toMatch(/ok +Chat answer +svc-plus answered/);
  expect(check.output()).toMatch(/ok +Slack bot +parley in Campus/);
  expect(check.output()).toMatch(/ok +Proxy +127\.0\.0\.1:\d+ accepts connections \(HTTPS_PROXY\)/);
  const places = new Set(proxy.asked);
  expect([...places].toSorted()).toEqual(
    ['chat.example.test:443', 'sign-in.example.test:443', 'slack.example.test:443'].toSorted(),
  );
  expect(Buffer.from(proxy.credentials?.split(' ')[1] ?? '', 'base64').toString()).toBe('user:pass word');
  expect(check.output()).not.toContain('pass word');
});

test('the check names the setting of an unreachable proxy without its credentials', async () => {
  const gone = await freePort();
  expect(await checkProxies({ httpsProxy: `http://user:secret@127.0.0.1:${gone}`, httpProxy: undefined })).toEqual([
    {
      name: 'Proxy',
      verdict: 'fault',
      detail: `127.0.0.1:${gone} cannot be reached (ECONNREFUSED)`,
      nextStep: expect.stringContaining('HTTPS_PROXY'),
    },
  ]);
  const both = { httpsProxy: undefined, httpProxy: `http://127.0.0.1:${proxy.port}` };
  expect(await checkProxies(both)).toEqual([
    { name: 'Proxy', verdict: 'ok', detail: `127.0.0.1:${proxy.port} accepts connections (HTTP_PROXY)` },
  ]);
  expect(await checkProxies({ httpsProxy: undefined, httpProxy: undefined })).toEqual([]);
});

describe('a call through a proxy', () => {
  test('requests a page by the address that was checked, never by a host name [egress-checked]', async () => {
    configureProxy({ ...NO_WAY, httpProxy: `http://127.0.0.1:${proxy.port}` });
    const egress = {
      protocols: ['http:'],
      mayUsePort: () => true,
      mayConnect: (address: string) => address.startsWith('198.51.100.'),
      resolve: async (name: string) => (name === 'inside.example.test' ? ['10.0.0.1'] : ['198.51.100.7']),
    };
    const { signal } = new AbortController();
    const page = await fetchPage('http://pages.example.test:8000/', { egress }, signal);
    expect(page.body.toString()).toBe('<p>pages.example.test:8000</p>');
    expect(proxy.asked).toEqual(['198.51.100.7:8000']);
    await expect(fetchPage('http://inside.example.test/', { egress }, signal)).rejects.toMatchObject({
      code: 'refused',
    });
    expect(proxy.asked).toHaveLength(1);
  });

  test('fails like a call to an unreachable host, without naming the proxy, when the proxy refuses', async () => {
    configureProxy({ ...NO_WAY, httpsProxy: `http://user:secret@127.0.0.1:${proxy.port}` });
    const error = await requestBounded(new URL('https://closed.example.test/x'), { method: 'GET' }).catch(String);
    expect(error).toContain('closed.example.test/x failed (proxy_refused)');
    expect(error).not.toContain('secret');
    await expect(callService({ url: 'https://closed.example.test/' })).rejects.toThrow();
    expect(proxy.asked).toEqual(['closed.example.test:443', 'closed.example.test:443']);
  });

  test('tries a proxy that is given as an IPv6 address', async () => {
    configureProxy({ ...NO_WAY, httpsProxy: `http://[::1]:${await freePort()}` });
    const error = await requestBounded(new URL('https://chat.example.test/x'), { method: 'GET' }).catch(String);
    expect(error).toContain('chat.example.test/x failed (proxy_unreachable)');
  });

  test('relays embeddings to an engine', async () => {
    configureProxy({ ...NO_WAY, httpProxy: `http://127.0.0.1:${proxy.port}` });
    const options = { url: 'http://engine.example.test/v1', models: {} };
    const engine = createPassThrough(options, { failed: () => undefined } as unknown as ServiceReport);
    const request = {
      path: 'embeddings',
      headers: {},
      contentType: 'application/json',
      accept: '*/*',
      body: Buffer.from('{}'),
    };
    const answer = await engine.send(request, new AbortController().signal);
    expect(await answer.body.text()).toContain('engine.example.test');
    await engine.close();
    expect(proxy.asked).toEqual(['engine.example.test:80']);
  });

  test('uses plain HTTP for the sign-in service only on a loopback address, and then directly', async () => {
    configureProxy({ ...NO_WAY, httpProxy: `http://127.0.0.1:${proxy.port}` });
    expect((await callService({ url: plain.url })).status).toBe(200);
    expect(proxy.asked).toEqual([]);
    expect((await callService({ url: 'http://plain.example.test/' })).body).toContain('plain.example.test');
    expect(proxy.asked).toEqual(['plain.example.test:80']);
  });
});

test.each([
  ['example.org', 'https://example.org', true],
  ['example.org', 'https://api.example.org', true],
  ['.example.org', 'https://example.org:8443', true],
  ['*.example.org', 'https://api.example.org', true],
  ['example.org', 'https://notexample.org', false],
  ['example.org:8443', 'https://example.org', false],
  ['example.org:443', 'https://example.org', true],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://11.1.2.3', false],
  ['fd00::/8', 'https://[fd00::1]', true],
  ['fd00::1', 'https://[fd00::1]', true],
  ['*', 'https://anything.example', true],
  ['other.example', 'https://127.0.0.9', true],
  ['other.example', 'https://[::1]:9', true],
  ['other.example', 'https://page.localhost', true],
  ['other.example', 'https://127.example.org', false],
])('decides by NO_PROXY=%s for %s whether to connect directly: %s', (entry, address, isDirect) => {
  configureProxy({ ...NO_WAY, httpsProxy: 'http://proxy.example', noProxy: [entry] });
  expect(proxyFor(new URL(address)) === undefined).toBe(isDirect);
});

test('accepts a proxy setting in lower case and as host and port only', () => {
  const { secrets, config } = loadSound({
    ...SERVING,
    https_proxy: 'proxy.example.org:3128',
    no_proxy: 'a.example, 10.0.0.0/8',
  });
  expect(secrets.httpsProxy).toBe('http://proxy.example.org:3128/');
  expect(config.noProxy).toEqual(['a.example', '10.0.0.0/8']);
});

test.each(['yes', 'Yes', 'TRUE', 'on', '1'])('a yes-or-no setting is true for %s', (word) => {
  expect(loadSound({ ...SERVING, CHAT_SEND_USER: word }).config.chat.sendsUser).toBe(true);
});
test.each(['no', 'False', 'OFF', '0'])('a yes-or-no setting is false for %s', (word) => {
  expect(loadSound({ ...SERVING, CHAT_SEND_USER: word }).config.chat.sendsUser).toBe(false);
});
