import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { open } from './raw-client.ts';

jest.setTimeout(60_000);
const PUBLIC_HOST = 'chat.example.edu';
const folder = mkdtempSync(join(tmpdir(), 'parley-hosts-'));
let redis: TestRedis;
let local: ParleyProcess;
let alone: ParleyProcess;
/** Ports of the servers of both processes. */
const ports = { bot: 0, service: 0, messenger: 0, alone: 0 };

beforeAll(async () => {
  redis = await startTestRedis();
  for (const name of ['bot', 'service', 'messenger', 'alone'] as const) ports[name] = await freePort();
  const common = { LOG_FORMAT: 'json', ENV_FILE: '/dev/null', PUBLIC_URL: `https://${PUBLIC_HOST}` };
  local = await startParleyProcess({
    env: {
      ...{ ...common, DATA_DIR: folder, MESSENGER_PROTOCOL: 'wecom', SIGN_IN: 'off', PORT: String(ports.bot) },
      ...{ SERVICE_PORT: String(ports.service), MESSENGER_PORT: String(ports.messenger) },
    },
    until: /Parley (is running|has started)/,
    ownGroup: true,
  });
  alone = await startParleyProcess({
    env: {
      ...{ ...common, ROLES: 'service', HOST: '127.0.0.1', PORT: String(ports.alone), REDIS_URL: redis.url },
      ...{ SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), SERVICE_API_KEYS: 'sk-1' },
    },
    until: /Parley (is running|has started)/,
  });
});
afterAll(async () => {
  for (const { kill, ended } of [local, alone]) {
    kill('SIGTERM');
    await ended;
  }
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns the status, followed by the target of a redirect */
async function ask(server: keyof typeof ports, path: string, host: string): Promise<string> {
  const { socket, said } = await open(
    `http://127.0.0.1:${ports[server]}`,
    `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  await untilTrue(() => said().includes('\r\n\r\n'), 10_000);
  socket.destroy();
  const [, status = ''] = /^HTTP\/1\.1 (\d+)/.exec(said()) ?? [];
  const [, location] = /^location: (.*?)\r$/im.exec(said()) ?? [];
  return location === undefined ? status : `${status} ${location}`;
}

const PATHS = [
  ...(['/healthz', '/readyz', '/metrics'] as const).flatMap((path) => [
    ['bot', path] as const,
    ['service', path] as const,
  ]),
  ['service', '/'] as const,
  ['service', '/v1/models'] as const,
];

test.each(PATHS)('local mode: the %s answers %s only under its own host names [own-host]', async (server, path) => {
  const right = await ask(server, path, `127.0.0.1:${ports[server]}`);
  expect(right).toBe(path === '/v1/models' ? '401' : '200');
  for (const host of [
    'rebound.example',
    'rebound.example.',
    `rebound.example:${ports[server]}`,
    `${PUBLIC_HOST}.evil.example`,
    '%',
    '1.2.3.4.evil.example',
  ])
    expect([host, await ask(server, path, host)]).toEqual([host, '421']);
  for (const host of ['receiver', `10.1.2.3:${ports[server]}`, '[fd00::1]', 'host.docker.internal'])
    expect([host, await ask(server, path, host)]).toEqual([host, right]);
});

test('local mode: the bot accepts the host of PUBLIC_URL [own-host]', async () => {
  expect(await ask('bot', '/readyz', PUBLIC_HOST)).toBe('200');
  expect(await ask('bot', '/metrics', `${PUBLIC_HOST}:443`)).toBe('200');
});

test('server mode: redirects pages to the public host and serves health, metrics and the API under any name [own-host]', async () => {
  expect(await ask('alone', '/?a=1', 'rebound.example')).toBe(`307 https://${PUBLIC_HOST}/?a=1`);
  expect(await ask('alone', '/', PUBLIC_HOST)).toBe('200');
  expect(await ask('alone', '/', '10.1.2.3')).toBe('200');
  for (const path of ['/healthz', '/readyz', '/metrics'])
    expect([path, await ask('alone', path, 'worker-1.internal.example.edu:8080')]).toEqual([path, '200']);
  expect(await ask('alone', '/v1/models', 'service.example.edu')).toBe('401');
});
