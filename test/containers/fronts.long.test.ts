import { readFileSync } from 'node:fs';
import { globalAgent } from 'node:https';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { got } from 'got';
import { Deferred } from '../../src/shared/deferred.ts';
import { MIB_BYTES } from '../../src/shared/clock.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import {
  chunk,
  sse,
  statusOf,
  startScriptedChatServer,
  type ScriptedChatServer,
} from '../bot/model/scripted-chat-server.ts';
import { Browser } from '../service/support.ts';
import { AES_KEY, folderWith, SERVING } from '../bot/config/environments.ts';
import { hashPassword } from '../../src/service/oauth/passwords.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startRedisServer } from '../support/redis.ts';
import { createWecomSender, wecomText } from '../support/wecom-sender.ts';
import { describeWith } from '../support/with-program.ts';
import { startCaddy, startNginx, type Behind, type Front } from './fronts.ts';

const UP = /Parley (is running|has started)/;
const COMMAND = ['node', resolve('dist/main.js')];
const KEY = 'sk-front';
const CALLBACK = 'https://client.example.org/callback';
const SLACK_OF_SEVERAL_WORKSPACES = {
  ...{ SLACK_BOT_TOKEN: 'xoxb-front', SLACK_SIGNING_SECRET: 'front'.repeat(4), SLACK_API_URL: 'http://127.0.0.1:1/' },
  ...{ SLACK_CLIENT_ID: 'client', SLACK_CLIENT_SECRET: 'secret', SLACK_MORE_WORKSPACES: 'T0SECOND' },
};
const quietly = { throwHttpErrors: false, followRedirect: false, retry: { limit: 0 } };

describeWith('caddy', 'the deployment behind Caddy with the shipped file', () => passes(startCaddy));
describeWith('nginx', 'the deployment behind nginx with the configuration in OPERATIONS', () => passes(startNginx));

function passes(startFront: (behind: Behind) => Promise<Front>): void {
  let redis: Awaited<ReturnType<typeof startRedisServer>>;
  let engine: ScriptedChatServer;
  let front: Front;
  let behind: Behind;
  let cwd: string;
  let receiverEnv: Record<string, string>;
  const processes: ParleyProcess[] = [];

  beforeAll(async () => {
    redis = await startRedisServer();
    engine = await startScriptedChatServer();
    behind = { receiverPort: await freePort(), servicePort: await freePort() };
    front = await startFront(behind);
    if (front.certificates !== undefined) globalAgent.options.ca = readFileSync(front.certificates);
    const client = { client_id: 'parley', client_secret: 's', name: 'Parley', redirect_uris: [CALLBACK] };
    cwd = folderWith({ 'config/clients.json': JSON.stringify([client]), 'config/people.json': await people() });
    const both = {
      ...{ REDIS_URL: redis.url, HOST: '127.0.0.1', TRUSTED_PROXY_HOPS: '1' },
      ...(front.certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: front.certificates }),
    };
    const start = async (env: Record<string, string>) => {
      processes.push(await startParleyProcess({ env: { ...both, ...env }, command: COMMAND, cwd, until: UP }));
    };
    await start({
      ...{ ROLES: 'service', PORT: String(behind.servicePort), DATA_DIR: `${cwd}/data` },
      ...{ SERVICE_PUBLIC_URL: front.serviceUrl, SERVICE_API_KEYS: KEY, SERVICE_UPSTREAM_URL: engine.baseUrl },
      ...{ SERVICE_CLIENTS_FILE: 'config/clients.json', SERVICE_DIRECTORY_FILE: 'config/people.json' },
    });
    receiverEnv = {
      ...{ ...SERVING, ...both, ROLES: 'receiver', PORT: String(behind.receiverPort) },
      ...{ PUBLIC_URL: front.botUrl, SIGN_IN_URL: front.serviceUrl, CHAT_BASE_URL: `${front.serviceUrl}/v1` },
      ...{ WECOM_API_URL: 'http://127.0.0.1:1', WECOM_OPEN_URL: 'http://127.0.0.1:1' },
      ...SLACK_OF_SEVERAL_WORKSPACES,
    };
    await start(receiverEnv);
  }, 60_000);
  afterAll(async () => {
    for (const each of processes) each.kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await front.stop();
    delete globalAgent.options.ca;
    await engine.stop();
    await redis.stop();
  });

  test('a delivery is accepted', async () => {
    const sender = createWecomSender({
      botUrl: front.botUrl,
      token: SERVING['WECOM_BOT_TOKEN'] ?? '',
      aesKey: AES_KEY,
    });
    expect(await sender.send(wecomText('Good morning'))).toMatchObject({ status: 200 });
    expect(await sender.send(wecomText('Good morning'), { signature: '0'.repeat(40) })).toMatchObject({ status: 401 });
  });

  test('health, readiness and metrics are not forwarded', async () => {
    const statusAt = async (url: string) => (await got(url, quietly)).statusCode;
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      expect([path, await statusAt(front.botUrl + path), await statusAt(front.serviceUrl + path)]).toEqual([
        path,
        404,
        404,
      ]);
      expect(await statusAt(`http://127.0.0.1:${behind.receiverPort}${path}`)).not.toBe(404);
      expect(await statusAt(`http://127.0.0.1:${behind.servicePort}${path}`)).not.toBe(404);
    }
    expect(await statusAt(`${front.botUrl}/v1/models`)).toBe(404);
  });

  test('the check finds the bot, its webhook and its pages although health is not forwarded', async () => {
    const env = { ...receiverEnv, PORT: String(await freePort()) };
    engine.script(statusOf(503));
    const check = await startParleyProcess({ env, command: [...COMMAND, 'check'], cwd });
    await check.ended;
    expect(check.output()).toMatch(/^ok +Public address +\S+ leads to Parley with these settings$/m);
    expect(check.output()).toMatch(/^ok +Webhook wecom/m);
    expect(check.output()).toMatch(/^ok +Sign-in pages/m);
  }, 60_000);

  test("the bot's pages are served with their assets", async () => {
    const page = await got(`${front.botUrl}/link/${'a'.repeat(43)}`, quietly);
    expect([page.statusCode, page.headers['content-type']]).toEqual([410, expect.stringContaining('text/html')]);
    const [, style = ''] = /href="(\/assets\/[^"]+)"/.exec(page.body) ?? [];
    expect((await got(front.botUrl + style, quietly)).headers['content-type']).toContain('text/css');
  });

  test('an administrator of a further Slack workspace reaches the installation page', async () => {
    const { statusCode, headers } = await got(`${front.botUrl}/install/slack`, quietly);
    expect([statusCode, new URL(headers.location ?? '').pathname]).toEqual([303, '/oauth/v2/authorize']);
  });

  test('a person signs in at the service by a form on its own host name', async () => {
    const browser = new Browser(front.serviceUrl, { origin: front.serviceUrl });
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: 'parley',
      redirect_uri: CALLBACK,
      state: 's',
    });
    let page = await browser.get(`/oauth2.0/authorize?${asked.toString()}`);
    const [, style = ''] = /href="(\/style-[^"]+)"/.exec(page.body) ?? [];
    expect((await browser.get(style)).headers['content-type']).toContain('text/css');
    page = await browser.submit(page, { username: 'alice', password: 'alice-pass' });
    while (page.statusCode === 303 && !page.headers.location?.startsWith(CALLBACK)) page = await browser.follow(page);
    if (page.statusCode === 200) page = await browser.submit(page, { decision: 'allow' });
    expect(page.headers.location).toMatch(/^https:\/\/client\.example\.org\/callback\?code=.+&state=s/);
  });

  test('a client finds the addresses of the service by its metadata', async () => {
    const found = await got(`${front.serviceUrl}/.well-known/oauth-authorization-server`, quietly);
    expect(JSON.parse(found.body)).toMatchObject({
      issuer: front.serviceUrl,
      token_endpoint: `${front.serviceUrl}/oauth2.0/accessToken`,
    });
  });

  test("the bot's page is not served under another host name", async () => {
    const show = (headers = {}) => got(`${front.botUrl}/link/${'a'.repeat(43)}`, { ...quietly, headers });
    expect((await show()).statusCode).toBe(410);
    // A proxy with its own certificates has none for such a name.
    const [other] = await Promise.allSettled([show({ host: 'evil.example' })]);
    if (other.status === 'fulfilled') expect(other.value.statusCode).toBe(307);
    else expect(other.reason).toMatchObject({ code: 'EPROTO' });
  });

  test('an answer is streamed: its beginning arrives before its end is written', async () => {
    const isRead = new Deferred();
    engine.script(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'begin' }));
      await isRead.promise;
      response.end(chunk({ content: ' end' }, 'stop') + sse('[DONE]'));
    });
    const body = { model: 'svc-plus', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
    const stream = got.stream.post(`${front.serviceUrl}/v1/chat/completions`, {
      ...quietly,
      json: body,
      headers: key(),
    });
    let text = '';
    for await (const piece of stream) {
      text += String(piece);
      if (text.includes('begin')) isRead.resolve();
    }
    expect(text).toMatch(/begin[\s\S]* end[\s\S]*\[DONE\]/);
  });

  test('the chat interface accepts a picture of several megabytes, while the bot accepts bodies up to one', async () => {
    engine.script((response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(whole()));
    const url = `data:image/png;base64,${Buffer.alloc(6 * MIB_BYTES).toString('base64')}`;
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url } },
    ];
    const json = { model: 'svc-plus', messages: [{ role: 'user', content }] };
    const answer = await got.post(`${front.serviceUrl}/v1/chat/completions`, { ...quietly, json, headers: key() });
    expect([answer.statusCode, answer.body]).toEqual([200, expect.stringContaining('a picture')]);
    const now = Math.floor(Date.now() / 1_000);
    const query = `msg_signature=${'0'.repeat(40)}&timestamp=${now}&nonce=1`;
    const webhook = (size: number) =>
      got.post(`${front.botUrl}/webhooks/wecom?${query}`, { ...quietly, body: 'a'.repeat(size) });
    for (const size of [MIB_BYTES + 1, 8 * MIB_BYTES]) expect((await webhook(size)).statusCode).toBe(413);
    expect((await webhook(MIB_BYTES - 1)).statusCode).toBe(400);
  });

  test('a client with too many invalid requests is limited, but not other clients behind the same proxy', async () => {
    const open = (localAddress: string, headers = {}) =>
      got(`${front.botUrl}/link/${'a'.repeat(43)}`, { ...quietly, localAddress, headers });
    const statuses = new Set<number>();
    for (let round = 0; round < 30 && !statuses.has(429); round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => open('127.0.0.2')));
      for (const { statusCode } of answers) statuses.add(statusCode);
    }
    expect(statuses).toEqual(new Set([410, 429]));
    expect((await open('127.0.0.2', { 'x-forwarded-for': '192.0.2.7' })).statusCode).toBe(429);
    expect((await open('127.0.0.3')).statusCode).toBe(410);
  }, 60_000);
}

const key = () => ({ authorization: `Bearer ${KEY}` });

function whole(): string {
  const message = { role: 'assistant', content: 'a picture' };
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  });
}

async function people(): Promise<string> {
  const profile = {
    ...{ id: '20190002', active: true, parentIdentityInfo: { name: '教职工', code: 'JG' } },
    attributes: { BMBM: '101', BMMC: 'Library', XGH: '20190002', XM: 'Alice Chen', objectId: 'obj-alice' },
  };
  return JSON.stringify([{ username: 'alice', password: await hashPassword('alice-pass'), profile, messaging: {} }]);
}
