import { afterEach, describe, expect, test } from '@jest/globals';
import { lookup } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { ListeningServer } from '../../../../src/shared/http/http-server.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../../../src/bot/app/local/embedded-redis.ts';
import {
  chatProbe,
  publicUrlProbe,
  redisProbe,
  signInProbe,
  watchProbes,
} from '../../../../src/cli/start/startup-warnings.ts';
import { answering } from '../../../cli/check/support.ts';
import { SERVING, without } from '../../config/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { untilTrue } from '../../../support/deployment.ts';
import { CLOSED_PORT } from '../../../support/closed-port.ts';

const servers: ListeningServer[] = [];
const redises: EmbeddedRedis[] = [];
const running: ParleyProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const parley of running) parley.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  for (const server of servers.splice(0)) await server.close();
  for (const redis of redises.splice(0)) await redis.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function serve(answers: Parameters<typeof answering>[0]): Promise<string> {
  const server = await answering(answers);
  servers.push(server);
  return server.url;
}

async function startRedis(): Promise<string> {
  const redis = await startEmbeddedRedis();
  redises.push(redis);
  return redis.url;
}

async function start(env: Record<string, string>, until: RegExp): Promise<ParleyProcess> {
  const parley = await startParleyProcess({
    env: { ENV_FILE: '/dev/null', LOG_FORMAT: 'json', LOG_LEVEL: 'info', ...env },
    until,
  });
  running.push(parley);
  return parley;
}

/** A complete environment for a bot in production, with all services on this machine. */
async function aroundBot(answers: Parameters<typeof answering>[0] = {}): Promise<Record<string, string>> {
  const url = await serve({ '/v1/models': [200, { data: [] }], '/oauth2.0/authorize': 200, ...answers });
  const port = String(await freePort());
  return {
    ...without(SERVING, 'WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'),
    ...{ SIGN_IN_PROOF: 'same-id', CHAT_BASE_URL: `${url}/v1`, SIGN_IN_URL: url },
    ...{ PUBLIC_URL: 'https://localhost', HOST: '127.0.0.1', PORT: port, REDIS_URL: await startRedis() },
  };
}

describe('startup probes', () => {
  test('tell apart a Redis that is unreachable, that refuses the password, and that works', async () => {
    const away = `redis://user:secret-word@127.0.0.1:${CLOSED_PORT}/2`;
    expect(await redisProbe({ urls: [away] }).find()).toMatch(
      /^Redis does not answer at 127\.0\.0\.1:\d+: .*REDIS_URL/,
    );
    expect(await redisProbe({ urls: [away] }).find()).not.toContain('secret-word');
    const locked = await startRedis();
    const first = new Redis(locked, { maxRetriesPerRequest: null });
    await first.config('SET', 'requirepass', 'right-word');
    first.disconnect();
    expect(await redisProbe({ urls: [locked] }).find()).toMatch(/^Redis refuses the user or the password in REDIS_URL/);
    const wrong = locked.replace('redis://', 'redis://:wrong-word@');
    expect(await redisProbe({ urls: [wrong] }).find()).toMatch(/^Redis refuses the user or the password in REDIS_URL/);
    expect(await redisProbe({ urls: [locked.replace('redis://', 'redis://:right-word@')] }).find()).toBeUndefined();
  });

  test.each([
    [401, /^The chat service refuses CHAT_API_KEY \(401\)/],
    [403, /^The chat service refuses CHAT_API_KEY \(403\)/],
    [502, /^The chat service returns 502: contact its operator/],
    [404, undefined],
    [200, undefined],
  ])('name the setting at fault if the chat service answers %i', async (status, sentence) => {
    const baseUrl = `${await serve({ '/v1/models': status })}/v1`;
    const found = await chatProbe({ baseUrl, model: 'svc-plus' }, 'sk-wrong').find();
    if (sentence) expect(found).toMatch(sentence);
    else expect(found).toBeUndefined();
  });

  test('suggest a CHAT_BASE_URL that ends in /v1 if the models address is not found', async () => {
    const baseUrl = await serve({});
    expect(await chatProbe({ baseUrl, model: 'svc-plus' }, undefined).find()).toBe(
      `${baseUrl}/models does not exist (404), so questions probably cannot be answered. Check that CHAT_BASE_URL ends in /v1.`,
    );
  });

  test('name a model that the chat service does not list, and the models it lists', async () => {
    const find = async (model: string, body: object) =>
      chatProbe({ baseUrl: `${await serve({ '/v1/models': [200, body] })}/v1`, model }, undefined).find();
    const list = { data: [{ id: 'svc-plus' }, { id: 'svc-max' }] };
    expect(await find('gpt-x', list)).toMatch(
      /^The chat service does not list the model gpt-x, .* Choose CHAT_MODELS from: svc-plus, svc-max\.$/,
    );
    expect(await find('svc-max', list)).toBeUndefined();
    // An empty or unknown list proves nothing.
    expect(await find('gpt-x', { data: [] })).toBeUndefined();
    expect(await find('gpt-x', {})).toBeUndefined();
  });

  test('report a sign-in service that refuses the client or the address', async () => {
    const find = async (status: number) => {
      const authUrl = await serve({ '/oauth2.0/authorize': status });
      return signInProbe({ authUrl, clientId: 'parley', publicUrl: 'https://parley.example.org' }).find();
    };
    expect(await find(400)).toMatch(/^Sign-in may not work\. .*answers 400 .*SIGN_IN_CLIENT_ID.*\/oauth\/callback/);
    expect(await find(404)).toMatch(/^No one can sign in\. .*Correct SIGN_IN_URL/);
    expect(await find(200)).toBeUndefined();
  });

  test('report a public address whose host name does not resolve', async () => {
    const find = (publicUrl: string) => publicUrlProbe(publicUrl).find();
    // The name is reserved and never resolves. A machine without DNS returns another error, which proves nothing.
    const answer = await lookup('parley.invalid').catch((error: unknown) => error);
    const isUnknown = (answer as { code?: string }).code === 'ENOTFOUND';
    const expected = isUnknown ? expect.stringMatching(/^parley\.invalid does not resolve .*PUBLIC_URL/) : undefined;
    expect(await find('https://parley.invalid')).toEqual(expected);
    expect(await find('https://localhost:8443')).toBeUndefined();
    expect(await find('https://[::1]')).toBeUndefined();
  });

  test('repeat until the fault is fixed, and report that once', async () => {
    const told: string[] = [];
    let probes = 0;
    const find = async () => ((probes += 1) < 3 ? 'It is away.' : undefined);
    const fine = { works: 'never said', find: async () => undefined };
    const watch = watchProbes([{ works: 'It works.', find }, fine], {
      onEnded: (text) => told.push(text),
      againMs: 5,
    });
    expect(await watch.first).toEqual(['It is away.']);
    await untilTrue(() => told.length > 0);
    expect([told, probes]).toEqual([['It works.'], 3]);
    watch.end();
  });
});

describe('npm start', () => {
  test('reports that Parley is running, and the callback URL to save in the console, only if all probes pass', async () => {
    const parley = await start(await aroundBot(), /Reached at[\s\S]*callback URL/);
    expect(parley.output()).toContain('Parley is running.');
    expect(parley.output()).toContain(
      "WeCom's console, save as the bot's callback URL: https://localhost/webhooks/wecom",
    );
  });

  test('lists the models without an entry in MODELS_FILE in one sentence', async () => {
    const env = { ...(await aroundBot()), CHAT_MODELS: 'qwen-vl,gpt-x' };
    const parley = await start(env, /Reached at/);
    const told = parley.output().match(/[^\n]*MODELS_FILE[^\n]*/g);
    expect(told).toEqual([
      expect.stringMatching(/qwen-vl, gpt-x are not in MODELS_FILE, .*npm run check .* entries\.$/),
    ]);
  });

  test('lists what does not work instead of reporting that Parley is running, and continues until it works', async () => {
    const port = await freePort();
    const env = { ...(await aroundBot({ '/v1/models': 401 })), REDIS_URL: `redis://127.0.0.1:${port}` };
    const parley = await start(env, /Reached at/);
    expect(parley.output()).not.toContain('Parley is running');
    expect(parley.output()).toMatch(/Parley has started, but not all of it works yet:\n\n {2}Redis does not answer at/);
    expect(parley.output()).toContain('  The chat service refuses CHAT_API_KEY (401)');
    // A person never sees a stack trace first, in any log format.
    expect(parley.output()).not.toMatch(/\s{4}at |\\n {4}at /);
    redises.push(await startEmbeddedRedis({ port }));
    await untilTrue(() => parley.output().includes('Redis answers.'));
  }, 60_000);

  test('with ROLES=service names missing files, and reports that Parley is running once they exist', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-service-'));
    folders.push(folder);
    const env = { ROLES: 'service', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data') };
    const lacking = await start({ ...env, PORT: String(await freePort()) }, /Reached at/);
    expect(lacking.output()).not.toContain('Parley is running');
    expect(lacking.output()).toMatch(
      /No application .*SERVICE_CLIENTS_FILE=[\s\S]*No one can sign in.*SERVICE_DIRECTORY_FILE=/,
    );
    lacking.kill('SIGTERM');
    await lacking.ended;
    const clients = [{ client_id: 'a', client_secret: 'b', name: 'c', redirect_uris: ['https://a.example/'] }];
    writeFileSync(join(folder, 'clients.json'), JSON.stringify(clients));
    const files = { SERVICE_CLIENTS_FILE: join(folder, 'clients.json'), SERVICE_CAS_URL: 'https://cas.example.edu' };
    const whole = await start({ ...env, ...files, PORT: String(await freePort()) }, /Reached at/);
    expect(whole.output()).toContain('Parley is running');
  }, 60_000);
});
