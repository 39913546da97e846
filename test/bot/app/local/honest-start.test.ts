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
  watchTroubles,
} from '../../../../src/cli/start/startup-warnings.ts';
import { answering } from '../../../cli/check/support.ts';
import { SERVING, without } from '../../config/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { untilTrue } from '../../../support/deployment.ts';

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

/** Everything that a bot for real people needs, on this machine. */
async function aroundBot(answers: Parameters<typeof answering>[0] = {}): Promise<Record<string, string>> {
  const url = await serve({ '/v1/models': [200, { data: [] }], '/oauth2.0/authorize': 200, ...answers });
  const port = String(await freePort());
  return {
    ...without(SERVING, 'WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'),
    ...{ SIGN_IN_PROOF: 'same-id', CHAT_BASE_URL: `${url}/v1`, SIGN_IN_URL: url },
    ...{ PUBLIC_URL: 'https://localhost', HOST: '127.0.0.1', PORT: port, REDIS_URL: await startRedis() },
  };
}

describe('what does not work is said in a sentence', () => {
  test('a Redis that is away, that refuses the password, and one that works', async () => {
    const away = `redis://user:secret-word@127.0.0.1:${await freePort()}/2`;
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
    [502, /^The chat service answers 502: ask who runs it/],
    [404, undefined],
    [200, undefined],
  ])('a chat service that answers %i', async (status, sentence) => {
    const baseUrl = `${await serve({ '/v1/models': status })}/v1`;
    const found = await chatProbe({ baseUrl, model: 'svc-plus' }, 'sk-wrong').find();
    if (sentence) expect(found).toMatch(sentence);
    else expect(found).toBeUndefined();
  });

  test('a chat address without its version at which nothing is', async () => {
    const baseUrl = await serve({});
    expect(await chatProbe({ baseUrl, model: 'svc-plus' }, undefined).find()).toBe(
      `Nothing is at ${baseUrl}/models (404): most likely nothing can be answered. See that CHAT_BASE_URL ends in /v1.`,
    );
  });

  test('a model that the chat service does not list, and what it lists instead', async () => {
    const find = async (model: string, body: object) =>
      chatProbe({ baseUrl: `${await serve({ '/v1/models': [200, body] })}/v1`, model }, undefined).find();
    const list = { data: [{ id: 'svc-plus' }, { id: 'svc-max' }] };
    expect(await find('gpt-x', list)).toMatch(
      /^The chat service does not list the model gpt-x: .* Choose CHAT_MODEL from: svc-plus, svc-max\.$/,
    );
    expect(await find('svc-max', list)).toBeUndefined();
    // An empty or unknown list says nothing.
    expect(await find('gpt-x', { data: [] })).toBeUndefined();
    expect(await find('gpt-x', {})).toBeUndefined();
  });

  test('a sign-in service that refuses our client, perhaps for everybody', async () => {
    const find = async (status: number) => {
      const authUrl = await serve({ '/oauth2.0/authorize': status });
      return signInProbe({ authUrl, clientId: 'parley', publicUrl: 'https://parley.example.org' }).find();
    };
    expect(await find(400)).toMatch(
      /^Perhaps nobody can sign in\. .*answers 400 .*SIGN_IN_CLIENT_ID.*\/oauth\/callback/,
    );
    expect(await find(404)).toMatch(/^Nobody can sign in\. .*Correct SIGN_IN_URL/);
    expect(await find(200)).toBeUndefined();
  });

  test('a public address whose name nobody knows', async () => {
    const find = (publicUrl: string) => publicUrlProbe(publicUrl).find();
    // A name that can never be given away; a machine without any DNS says another thing, of which nothing follows.
    const answer = await lookup('parley.invalid').catch((error: unknown) => error);
    const isUnknown = (answer as { code?: string }).code === 'ENOTFOUND';
    const expected = isUnknown ? expect.stringMatching(/^parley\.invalid has no address .*PUBLIC_URL/) : undefined;
    expect(await find('https://parley.invalid')).toEqual(expected);
    expect(await find('https://localhost:8443')).toBeUndefined();
    expect(await find('https://[::1]')).toBeUndefined();
  });

  test('it is looked at again until it works, which is said once', async () => {
    const told: string[] = [];
    let probes = 0;
    const find = async () => ((probes += 1) < 3 ? 'It is away.' : undefined);
    const fine = { works: 'never said', find: async () => undefined };
    const watch = watchTroubles([{ works: 'It works.', find }, fine], {
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
  test('says that it runs, and what to save in the console, only where all works', async () => {
    const parley = await start(await aroundBot(), /Reached at[\s\S]*callback URL/);
    expect(parley.output()).toContain('Parley is running.');
    expect(parley.output()).toContain("WeCom's console as the bot's callback URL: https://localhost/webhooks/wecom");
  });

  test('says of models that no file lists what they get, in one sentence', async () => {
    const env = { ...(await aroundBot()), CHAT_MODELS: 'qwen-vl,gpt-x' };
    const parley = await start(env, /Reached at/);
    const told = parley.output().match(/[^\n]*MODELS_FILE[^\n]*/g);
    expect(told).toEqual([
      expect.stringMatching(/qwen-vl, gpt-x are in CHAT_MODELS and not in MODELS_FILE: .*npm run check .* entry\.$/),
    ]);
  });

  test('says what does not work, in place of that it runs, and goes on until it does', async () => {
    const port = await freePort();
    const env = { ...(await aroundBot({ '/v1/models': 401 })), REDIS_URL: `redis://127.0.0.1:${port}` };
    const parley = await start(env, /Reached at/);
    expect(parley.output()).not.toContain('Parley is running');
    expect(parley.output()).toMatch(/Parley has started, but not all of it works yet:\n\n {2}Redis does not answer at/);
    expect(parley.output()).toContain('  The chat service refuses CHAT_API_KEY (401)');
    // In no form of the log is a stack what a person meets first.
    expect(parley.output()).not.toMatch(/\s{4}at |\\n {4}at /);
    redises.push(await startEmbeddedRedis({ port }));
    await untilTrue(() => parley.output().includes('Redis answers.'));
  }, 40_000);

  test('as the service alone names the files that are missing, and nothing where they are there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-service-'));
    folders.push(folder);
    const env = { ROLES: 'service', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data') };
    const lacking = await start({ ...env, PORT: String(await freePort()) }, /Reached at/);
    expect(lacking.output()).not.toContain('Parley is running');
    expect(lacking.output()).toMatch(
      /No application .*SERVICE_CLIENTS_FILE=[\s\S]*Nobody can sign in.*SERVICE_DIRECTORY_FILE=/,
    );
    lacking.kill('SIGTERM');
    await lacking.ended;
    const clients = [{ client_id: 'a', client_secret: 'b', name: 'c', redirect_uris: ['https://a.example/'] }];
    writeFileSync(join(folder, 'clients.json'), JSON.stringify(clients));
    const files = { SERVICE_CLIENTS_FILE: join(folder, 'clients.json'), SERVICE_CAS_URL: 'https://cas.example.edu' };
    const whole = await start({ ...env, ...files, PORT: String(await freePort()) }, /Reached at/);
    expect(whole.output()).toContain('Parley is running');
  }, 40_000);
});
