import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { randomToken } from '../../src/shared/crypto/ids.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import type { Messenger } from '../../src/simulator/start-messenger.ts';
import { wecomProtocol } from '../../src/simulator/wecom/index.ts';
import { hashPassword } from '../../src/service/oauth/passwords.ts';
import { AES_KEY, SECRET_KEY } from '../bot/config/environments.ts';
import { APP_CREDENTIALS, startRecordedMessenger, untilTrue, walk, wecomEnv } from '../support/deployment.ts';
import { recordingLog, startRedisServer } from '../support/redis.ts';
import { describeWith } from '../support/with-program.ts';
import { startCaddy, type Front } from './fronts.ts';
import { layOutProduction, settingsAsShown, writeConfig, type Production } from './production.ts';

const EVERYTHING = { use: true, models: 'all', private: true, groups: 'all' };
const BOT = { token: 'Token123', aesKey: AES_KEY };
const { createSecureContext } = tls;
const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => String(index + 1));

describeWith('caddy', 'the documented production steps in order, with plain processes from the image files', () => {
  let production: Production;
  let front: Front;
  let messenger: Messenger;
  let ofMessenger: { redis: RedisClient; stop(): Promise<void> };

  beforeAll(async () => {
    production = await layOutProduction();
    front = await startCaddy({ receiverPort: production.ports.receiver, servicePort: production.ports.service });
    trust(readFileSync(front.certificates ?? '', 'utf8'));
    production.believe(front.certificates ?? '');
    const { log } = recordingLog();
    const server = await startRedisServer();
    ofMessenger = { ...server, redis: connectRedis({ urls: [server.url] }, 'wait', log, 'test') };
    const port = await freePort();
    messenger = await startRecordedMessenger({
      address: { port, host: '127.0.0.1' },
      redis: ofMessenger.redis,
      log,
      bot: { name: 'Parley', url: front.botUrl },
      service: { url: front.serviceUrl },
      office: { people: [{ id: 'zhangwei', name: '张伟', department: 'Library' }], groups: [] },
      protocol: wecomProtocol({ bot: { ...BOT, aiBotId: 'aibot-test' }, app: APP_CREDENTIALS }),
      deps: { timing: { pollEveryMs: 100, retryAfterMs: 500, answerTimeoutMs: 2_000, watchAwayMs: 50 } },
    });
    const client = { client_id: 'parley', client_secret: 'of-parley', name: 'Parley' };
    writeConfig(production.configFolder, {
      '.env': settingsAsShown('docs/guide/WECOM.md', {
        ...{
          PUBLIC_URL: front.botUrl,
          SIGN_IN_TYPE: 'oauth2',
          SIGN_IN_URL: front.serviceUrl,
          CHAT_BASE_URL: `${front.serviceUrl}/v1`,
        },
        ...{
          SECRET_KEY,
          CHAT_API_KEY: 'sk-production',
          SIGN_IN_CLIENT_ID: 'parley',
          SIGN_IN_CLIENT_SECRET: 'of-parley',
        },
        ...wecomEnv(`http://127.0.0.1:${port}`, BOT),
        ...{ SERVICE_PUBLIC_URL: front.serviceUrl, SERVICE_API_KEYS: 'sk-production' },
        ...{ SERVICE_CLIENTS_FILE: 'config/clients.json', SERVICE_DIRECTORY_FILE: 'config/directory.json' },
      }),
      'clients.json': JSON.stringify([{ ...client, redirect_uris: [`${front.botUrl}/oauth/callback`] }]),
      'directory.json': JSON.stringify([await zhangwei()]),
    });
  }, 120_000);
  afterAll(async () => {
    await messenger.close();
    await production.close();
    await front.stop();
    tls.createSecureContext = createSecureContext;
    ofMessenger.redis.disconnect();
    await ofMessenger.stop();
  }, 60_000);

  const ask = async (text: string) => (await messenger.driver.send('zhangwei', text)).id;
  const answerTo = async (id: string) => (await messenger.driver.waitForAnswer(id, { timeoutMs: 40_000 })).text;
  const changePolicy = (mayUse: boolean) => {
    const otherwise = mayUse ? EVERYTHING : { use: false };
    writeConfig(production.configFolder, { 'policy.json': JSON.stringify({ rules: [], otherwise }) });
  };
  const reread = async (name: string) => {
    const told = () => production.running(name).output().split('the files were reloaded').length;
    const before = told();
    production.running(name).kill('SIGHUP');
    await untilTrue(() => told() > before);
  };

  test('the check before the first start reports only what is not running yet', async () => {
    for (const name of ['service-redis', 'redis', 'service']) await production.start(name);
    const said = (await production.start('check')).output();
    expect(said.split('\n').filter((line) => line.startsWith('fault'))).toEqual([
      expect.stringContaining('Public address'),
    ]);
  }, 60_000);

  test('a receiver and two workers start and become ready, and the check finds no fault', async () => {
    for (const name of ['receiver', 'worker-1', 'worker-2']) await production.start(name);
    await untilTrue(() => messenger.driver.isBotReachable());
    const check = await production.start('check');
    expect(check.output()).not.toMatch(/^fault/m);
    expect(await check.ended).toBe(0);
  }, 60_000);

  test('a question is kept, its person signs in with the app, and it is answered', async () => {
    const id = await ask('count to 5');
    let link = '';
    await untilTrue(async () => {
      link = /https:\/\/\S+\/link\/[\w-]+/.exec((await messenger.driver.answer(id))?.text ?? '')?.[0] ?? '';
      return link !== '';
    });
    await walk(messenger, { personId: 'zhangwei', login: new URLSearchParams() }, link);
    const said = async () => (await messenger.driver.messages('zhangwei')).map(({ text }) => text.trim().split(/\s+/));
    await untilTrue(async () => (await said()).some((words) => words.join() === numbersTo(5).join()));
    expect((await answerTo(await ask('count to 7'))).trim().split(/\s+/)).toEqual(numbersTo(7));
  }, 60_000);

  test('a changed rule applies after workers reread their files, without a restart', async () => {
    changePolicy(false);
    for (const name of ['worker-1', 'worker-2']) await reread(name);
    expect(await answerTo(await ask('count to 3'))).toMatch(/does not have access/);
    changePolicy(true);
    for (const name of ['worker-1', 'worker-2']) await reread(name);
    expect((await answerTo(await ask('count to 3'))).trim().split(/\s+/)).toEqual(numbersTo(3));
  }, 60_000);

  test('a rolling restart of the workers during an answer leaves it complete in one message', async () => {
    const id = await ask('count to 200');
    await untilTrue(async () => /\d/.test((await messenger.driver.answer(id))?.text ?? ''));
    for (const name of ['worker-1', 'worker-2']) {
      expect(await production.stop(name)).toBe(0);
      await production.start(name);
    }
    expect((await answerTo(id)).trim().split(/\s+/)).toEqual(numbersTo(200));
    const answers = (await messenger.driver.messages('zhangwei')).filter(
      (each) => each.sender === 'bot' && each.id.includes(id),
    );
    expect(answers).toHaveLength(1);
  }, 90_000);

  test('the receiver restarts, and all processes stop in order', async () => {
    expect(await production.stop('receiver')).toBe(0);
    await production.start('receiver');
    expect((await answerTo(await ask('count to 4'))).trim().split(/\s+/)).toEqual(numbersTo(4));
    for (const name of ['receiver', 'worker-1', 'worker-2', 'service', 'redis', 'service-redis'])
      expect([name, await production.stop(name)]).toEqual([name, 0]);
    const faults = [...messenger.driver.violations()];
    expect(faults).toEqual([]);
  }, 60_000);
});

/** Makes all clients in this process trust a certificate, as NODE_EXTRA_CA_CERTS does at the start of one. */
function trust(certificate: string): void {
  tls.createSecureContext = (options) => {
    const created = createSecureContext(options);
    // Types of Node leave it open.
    const context: unknown = created.context;
    if (options?.ca === undefined) (context as { addCACert(pem: string): void }).addCACert(certificate);
    return created;
  };
}

async function zhangwei(): Promise<object> {
  const profile = {
    ...{ id: '20080117', active: true, parentIdentityInfo: { name: '教职工', code: 'JG' } },
    attributes: { BMBM: '101', BMMC: 'Library', XGH: '20080117', XM: '张伟', objectId: 'obj-zhangwei' },
  };
  const password = await hashPassword(randomToken(12));
  return { username: 'zhangwei', password, profile, messaging: { wecom: 'zhangwei' } };
}
