import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { installClients, runClient } from '../clients/run-client.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { startEngineStandIn, type EngineStandIn } from './engine-stand-in.ts';
import { API_KEY, Browser, CLIENT, startTestService, type TestService } from './support.ts';

const folder = await installClients();
if (folder === undefined)
  process.stderr.write('The npm registry cannot be reached: the client libraries are not tested.\n');
const describeClients = folder === undefined ? describe.skip : describe;
const scriptOf = (name: string) => join(folder ?? '', name);

let server: TestRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

describeClients('chat clients', () => {
  let engine: EngineStandIn;
  beforeAll(async () => {
    engine = await startEngineStandIn();
  });
  afterAll(() => engine.close());

  const NAMES = [
    'openai',
    '@ai-sdk/openai-compatible',
    '@ai-sdk/openai',
    '@langchain/openai',
    'llamaindex',
    '@openai/agents',
    'token.js',
  ];
  const MODELS = ['built-in model', 'engine'];

  test.each(MODELS.flatMap((model) => NAMES.map((name): [string, string] => [name, model])))(
    '%s gets text, a stream and structured arguments, and answers with a tool result, from the %s [chat-completions]',
    async (name, model) => {
      const isBare = model === 'engine';
      const upstream = isBare ? { url: engine.url, models: {} } : undefined;
      const service = await startTestService(server.redis, { upstream });
      const client = { baseURL: `${service.url}/v1`, apiKey: API_KEY, isBare };
      expect(await runClient({ script: scriptOf('chat-clients.mjs'), name, client })).toEqual({
        text: '1 2 3',
        streamed: '1 2 3',
        called: { city: 'Beijing' },
        answered: expect.stringContaining('sunny in Beijing'),
      });
      await service.close();
    },
  );
});

describeClients('sign-in clients', () => {
  // As `openssl rand -base64` makes them; some clients send it without the form encoding of HTTP Basic.
  const SECRET = 'p+q/r%41=s';

  async function startFor(port: number): Promise<TestService> {
    const paths = ['callback', 'connect/parley/callback', 'auth/callback/parley'];
    const redirectUris = paths.map((path) => `http://127.0.0.1:${port}/${path}`);
    const clients = parseClientsFile(
      JSON.stringify([{ ...CLIENT, client_secret: SECRET, redirect_uris: redirectUris }]),
    );
    return startTestService(server.redis, { clients, nowMs: Date.now });
  }

  /** A person of the people file signs in and agrees. */
  async function openPage(service: TestService, address: string): Promise<string> {
    const browser = new Browser(service.url);
    const login = await browser.get(address);
    const signedIn = await browser.submit(login, { username: 'zhangwei', password: 'zhangwei-pass' });
    const back = await browser.submit(await browser.follow(signedIn), { decision: 'allow' });
    return back.headers.location ?? '';
  }

  /** What the library can do besides the code flow. */
  const ALL = { refreshes: true, revokes: true };
  test.each<[string, { refreshes: boolean; revokes: boolean }]>([
    ['simple-oauth2', ALL],
    ['passport-oauth2', { refreshes: true, revokes: false }],
    ['openid-client', ALL],
    ['oauth4webapi', ALL],
    ['grant', { refreshes: false, revokes: false }],
    ['@fastify/oauth2', ALL],
    ['@auth/core', { refreshes: false, revokes: false }],
    ['client-oauth2', { refreshes: true, revokes: false }],
    ['arctic', ALL],
  ])('%s signs a person in: %j [token]', async (name, { refreshes, revokes }) => {
    const port = await freePort();
    const service = await startFor(port);
    const client = { issuer: service.url, clientId: CLIENT.client_id, clientSecret: SECRET, scope: 'SVC-Basic', port };
    const ran = runClient({ script: scriptOf('sign-in-clients.mjs'), name, client }, (address) =>
      openPage(service, address),
    );
    const { profile, token, refreshed, revoked } = (await ran) as Record<string, unknown>;
    expect(profile).toMatchObject({ id: '20190001', sub: '20190001', attributes: { XM: '张伟' }, client_id: 'parley' });
    const stateOf = async (one: unknown) =>
      (await fetch(`${service.url}/oauth2.0/profile`, { headers: { authorization: `Bearer ${String(one)}` } })).status;
    expect(await stateOf(token)).toBe(revoked === token ? 401 : 200);
    expect([refreshed !== undefined, revoked !== undefined]).toEqual([refreshes, revokes]);
    if (refreshes && name !== 'oauth4webapi') expect(await stateOf(refreshed)).toBe(revoked === refreshed ? 401 : 200);
    if (revokes) expect(await stateOf(revoked)).toBe(401);
    await service.close();
  });
});
