import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { SERVING } from '../bot/config/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { untilTrue } from '../support/deployment.ts';
import { environmentOf, readCompose } from './compose-file.ts';
import { asUserOf, buildImage, type Image } from './image-files.ts';

const execute = promisify(execFile);
const services = readCompose();
/** The services that run Parley's image. */
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);
const PASSWORD = 'a1b2c3d4e5f6';
const SERVICE_URL = 'https://service.example.org';

let image: Image;
let redis: EmbeddedRedis;
let dataDir: string;
let servicePort: number;
const running = new Map<string, { parley: ParleyProcess; env: Record<string, string> }>();

beforeAll(async () => {
  image = buildImage();
  redis = await startEmbeddedRedis();
  await execute('redis-cli', ['-u', redis.url, 'config', 'set', 'requirepass', PASSWORD]);
  servicePort = await freePort();
  dataDir = mkdtempSync(join(tmpdir(), 'parley-image-data-'));
  await execute('chmod', ['777', dataDir]);
  // Like the mounted ./config: the settings, a policy, and the clients and documents.
  mkdirSync(join(image.folder, 'config'));
  const own = {
    ...SERVING,
    ...{ CHAT_BASE_URL: `http://127.0.0.1:${servicePort}/v1`, SIGN_IN_URL: `http://127.0.0.1:${servicePort}` },
    ...{ SERVICE_PUBLIC_URL: SERVICE_URL, SERVICE_API_KEYS: 'sk-compose', CHAT_API_KEY: 'sk-compose', PORT: '9080' },
    ...{ SERVICE_CLIENTS_FILE: 'config/clients.json', SERVICE_CAS_URL: 'https://cas.example.org' },
    ...{ WECOM_API_URL: 'http://127.0.0.1:1', WECOM_OPEN_URL: 'http://127.0.0.1:1', SERVICE_PORT: '9081' },
  };
  const lines = Object.entries(own).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(image.folder, 'config/.env'), lines.join('\n'));
  const client = { client_id: 'a', client_secret: 'b', name: 'c', redirect_uris: ['https://a.example/'] };
  writeFileSync(join(image.folder, 'config/clients.json'), JSON.stringify([client]));
  const policy = { rules: [], otherwise: { use: true, models: 'all', private: true, groups: 'none' } };
  writeFileSync(join(image.folder, 'config/policy.json'), JSON.stringify(policy));
  // Documents like the mounted ./documents.
  cpSync('examples/documents/campus', join(image.folder, 'documents/campus'), { recursive: true });
  const sources = [{ name: 'Campus', folder: '../documents/campus', readers: 'public' }];
  writeFileSync(join(image.folder, 'config/knowledge.json'), JSON.stringify({ sources }));
  // The image's user cannot write to it, as with read_only in Compose.
  await execute('chmod', ['-R', 'a+rX,a-w', dirname(image.folder)]);
  await execute('chmod', ['a+rx', dirname(dirname(image.folder))]);
}, 120_000);
afterAll(async () => {
  for (const { parley } of running.values()) parley.kill('SIGKILL');
  await Promise.all([...running.values()].map(({ parley }) => parley.ended));
  await redis.stop();
  await execute('chmod', ['-R', 'u+w', dirname(dirname(image.folder))]);
  rmSync(dirname(dirname(image.folder)), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
});

/** The volume of a service. */
function dataDirOf(name: string): string {
  const folder = join(dataDir, name);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  return folder;
}

async function envOf(name: string): Promise<Record<string, string>> {
  const said = environmentOf(services[name] ?? {}, { REDIS_PASSWORD: PASSWORD });
  const port = String(name === 'service' ? servicePort : await freePort());
  const here = redis.url.replace('redis://', `redis://:${PASSWORD}@`);
  return {
    ...image.env,
    ...said,
    ...(said['SERVICE_PORT'] === undefined ? {} : { SERVICE_PORT: port }),
    ...{ PORT: port, HOST: '127.0.0.1', REDIS_URL: here },
    ...(said['DATA_DIR'] === undefined ? {} : { DATA_DIR: dataDirOf(name) }),
  };
}

async function start(name: string, until?: RegExp): Promise<ParleyProcess> {
  const env = await envOf(name);
  const command = asUserOf(image, services[name]?.command ?? image.command);
  const parley = await startParleyProcess({ cwd: image.folder, env, command, ...(until ? { until } : {}) });
  running.set(name, { parley, env });
  return parley;
}

describe("the services, started from the image's files alone, as its user and read-only", () => {
  test.each(['service', 'receiver', 'worker-1', 'worker-2'])(
    '%s starts and passes the health and readiness checks of the image',
    async (name) => {
      const parley = await start(name, /Parley (is running|has started)/);
      const env: Record<string, string> = running.get(name)?.env ?? {};
      const [program = '', ...args] = image.healthCommand;
      expect(program).toBe('node');
      await execute(process.execPath, args, { env: { ...process.env, ...env } });
      await untilTrue(async () => {
        const { statusCode } = await got(`http://127.0.0.1:${env['PORT']}/readyz`, { throwHttpErrors: false });
        return statusCode === 200;
      });
      expect(parley.output()).not.toMatch(/EACCES|EROFS|ENOENT/);
    },
    60_000,
  );

  test.each(['worker-1', 'worker-2'])('%s reads the documents and stores its index in its volume', async (name) => {
    const folder = join(dataDir, name, 'knowledge');
    const hasSegment = () => existsSync(folder) && readdirSync(folder).some((file) => file.endsWith('.segment'));
    await untilTrue(() => running.get(name)?.parley.output().includes('documents were indexed') === true);
    expect(hasSegment()).toBe(true);
  });

  test("the service lists its models under its own address, not under the bot's", async () => {
    const headers = { authorization: 'Bearer sk-compose' };
    const models = await got(`http://127.0.0.1:${servicePort}/v1/models`, { headers }).json();
    expect(JSON.stringify(models)).toContain('svc-plus');
    expect(running.get('service')?.parley.output()).toContain(`Reached at ${SERVICE_URL}`);
    expect(running.get('service')?.parley.output()).not.toContain(SERVING['PUBLIC_URL']);
  });

  test('the check runs, tests the configured parts and exits', async () => {
    const check = await start('check');
    expect(await check.ended).toBe(1);
    expect(check.output()).toMatch(/ok +Redis +answers/);
    expect(check.output()).toMatch(/ok +Chat answer +svc-plus answered/);
    expect(check.output()).toMatch(/ok +Files +your files: POLICY_FILE \S+\/config\/policy\.json, KNOWLEDGE_FILE /);
    expect(check.output()).toMatch(
      /ok +Files +files shipped with Parley: defaults\/models\.json, defaults\/system-prompt\.md, /,
    );
    expect(check.output()).toMatch(/ok +Knowledge +Campus: 7 documents in /);
  }, 60_000);

  test('each service stops in order on request', async () => {
    running.delete('check');
    for (const { parley } of running.values()) parley.kill('SIGTERM');
    for (const { parley } of running.values()) expect(await parley.ended).toBe(0);
  }, 60_000);
});

test("the services that run Parley's image include every role", () => {
  expect(ours.map(([name]) => name).toSorted()).toEqual(
    ['check', 'parley', 'receiver', 'service', 'worker-1', 'worker-2'].toSorted(),
  );
});

test.each(ours)('%s reads ./config over its own files, writes nothing there, and has limits', (_, service) => {
  expect(service.volumes).toContain('./config:/app/config:ro');
  expect(service).toMatchObject({ read_only: true, mem_limit: expect.any(String) });
});

test.each(Object.entries(services))('the log of %s has a size limit', (_, { logging }) => {
  expect(logging).toEqual({ driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } });
});

test('the service listens on the published port, behind one proxy', () => {
  const { PORT, SERVICE_PORT, HOST, TRUSTED_PROXY_HOPS } = environmentOf(services['service'] ?? {});
  expect([PORT, SERVICE_PORT, HOST, TRUSTED_PROXY_HOPS]).toEqual(['8080', '8080', '0.0.0.0', '1']);
  expect(services['service']?.ports).toEqual(['127.0.0.1:${SERVICE_PORT:-8081}:8080']);
});

test('the command of Redis in Compose sets its password and its memory limit', async () => {
  const port = String(await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  const { command = [], environment } = services['redis'] ?? {};
  expect(environment).toEqual({ REDISCLI_AUTH: expect.stringMatching(/^\$\{REDIS_PASSWORD:\?[^}]+\}$/) });
  const [shell = '', flag = '', line = ''] = command;
  const here = `${line.replaceAll('$$', '$')} --port ${port} --dir ${folder}`;
  const server = await startParleyProcess({
    command: [shell, flag, here],
    env: { REDISCLI_AUTH: PASSWORD },
    until: /Ready to accept connections/,
  });
  try {
    const ask = async (...words: string[]) => {
      const env = { PATH: process.env['PATH'], REDISCLI_AUTH: PASSWORD };
      return (await execute('redis-cli', ['-p', port, ...words], { env })).stdout.trim();
    };
    expect(await ask('ping')).toBe('PONG');
    expect(await ask('config', 'get', 'maxmemory')).toMatch(/1073741824$/);
    expect(await ask('config', 'get', 'maxmemory-policy')).toMatch(/noeviction$/);
    expect(await ask('config', 'get', 'appendonly')).toMatch(/yes$/);
    const { stdout } = await execute('redis-cli', ['-p', port, 'ping'], { env: { PATH: process.env['PATH'] } });
    expect(stdout).toMatch(/NOAUTH/);
  } finally {
    server.kill('SIGTERM');
    await server.ended;
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the proxy forwards exactly the paths that OPERATIONS lists for the bot', () => {
  const paths = /@bot path (.*)$/m.exec(readFileSync('defaults/Caddyfile', 'utf8'))?.[1]?.split(' ');
  const [, nginx = ''] = /location ~ \^\/\(([\w|-]+)\)\//.exec(readFileSync('docs/guide/OPERATIONS.md', 'utf8')) ?? [];
  expect(paths?.toSorted()).toEqual(
    nginx
      .split('|')
      .map((name) => `/${name}/*`)
      .toSorted(),
  );
});
