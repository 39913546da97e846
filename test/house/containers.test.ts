import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { got } from 'got';
import { freePort } from '../../src/local/embedded-redis.ts';
import { SERVING } from '../settings/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';

/** The lines of a mapping of docker-compose.yml below a key, without what they are indented by. */
function below(lines: readonly string[], key: string): string[] {
  const start = lines.findIndex((line) => line.startsWith(`${key}:`));
  const end = lines.findIndex((line, index) => index > start && /^\S/.test(line));
  const block = lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => /\S/.test(line));
  const indent = /^ */.exec(block[0] ?? '')?.[0].length ?? 0;
  return block.map((line) => line.slice(indent)).filter((line) => !line.startsWith('#'));
}

const compose = readFileSync('docker-compose.yml', 'utf8').split('\n');
const service = (name: string) => below(below(compose, 'services'), name);

/** What a service's environment is, with what it takes over from the top of the file. */
function environmentOf(name: string): Record<string, string> {
  return Object.fromEntries(
    below(service(name), 'environment').flatMap((line) => {
      const [, key = '', value = ''] = /^(\S+): *(.*)$/.exec(line) ?? [];
      if (key !== '<<') return [[key, value.replaceAll(/^['"]|['"]$/g, '')]];
      const shared = compose.find((each) => each.endsWith(`&${value.slice(1)}`))?.split(':')[0] ?? '';
      return below(compose, shared).map((each) => each.split(/: */) as [string, string]);
    }),
  );
}

/** What the last stage of the image holds: each file that a COPY line takes from the project, where it lies in /app. */
function copiedIntoImage(): { from: string; to: string }[] {
  const lastStage =
    readFileSync('Dockerfile', 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? '';
  return [...lastStage.matchAll(/^COPY (?:--from=build )?(.+)$/gm)].flatMap(([, names = '']) => {
    const words = names.split(' ').map((word) => word.replace(/^\/app\//, ''));
    const target = words.at(-1) ?? '';
    return words
      .slice(0, -1)
      .map((from) => ({ from, to: target.endsWith('/') ? join(target, from.split('/').at(-1) ?? '') : target }));
  });
}

describe('the compose profile of the service', () => {
  let image: string;
  let redis: TestRedis;
  let parley: ParleyProcess;
  let url: string;
  const publicUrl = 'https://service.example.org';

  beforeAll(async () => {
    image = mkdtempSync(join(tmpdir(), 'parley-image-'));
    for (const { from, to } of copiedIntoImage()) {
      mkdirSync(dirname(join(image, to)), { recursive: true });
      if (from === 'node_modules') symlinkSync(resolve(from), join(image, to));
      else cpSync(from, join(image, to), { recursive: true });
    }
    // As ./config is mounted: the settings of the bot, and beside them whom the service serves.
    const client = { client_id: 'a', client_secret: 'b', name: 'c', redirect_uris: ['https://a.example/'] };
    writeFileSync(join(image, 'config/clients.json'), JSON.stringify([client]));
    writeFileSync(
      join(image, 'config/.env'),
      Object.entries({
        ...SERVING,
        ...{ SERVICE_PUBLIC_URL: publicUrl, SERVICE_API_KEYS: 'sk-compose', SERVICE_PORT: '9081', PORT: '9080' },
        ...{ SERVICE_CLIENTS_FILE: 'config/clients.json', SERVICE_CAS_URL: 'https://cas.example.org' },
      })
        .map(([name, value]) => `${name}=${value}`)
        .join('\n'),
    );
    redis = await startTestRedis();
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    const env = environmentOf('service');
    expect([env['PORT'], env['SERVICE_PORT'], env['HOST']]).toEqual(['8080', '8080', '0.0.0.0']);
    parley = await startParleyProcess({
      cwd: image,
      env: {
        ...{ NODE_ENV: 'production', ...env, SERVICE_PUBLIC_URL: '' },
        ...{ PORT: port, SERVICE_PORT: port, HOST: '127.0.0.1', REDIS_URL: redis.url, DATA_DIR: join(image, 'data') },
      },
      until: /Reached at/,
    });
  }, 60_000);
  afterAll(async () => {
    parley.kill('SIGKILL');
    await parley.ended;
    await redis.stop();
    rmSync(image, { recursive: true, force: true });
  });

  test('starts from what the image holds, and answers for its models', async () => {
    expect(parley.output()).toContain('Parley is running');
    const models = await got(`${url}/v1/models`, { headers: { authorization: 'Bearer sk-compose' } }).json();
    expect(JSON.stringify(models)).toContain('svc-plus');
  });

  test('goes by its own address, and not by that of the bot whose settings it reads', () => {
    expect(parley.output()).toContain(`Reached at ${publicUrl}`);
    expect(parley.output()).not.toContain(SERVING['PUBLIC_URL']);
  });

  test('is listened for where it listens, behind one proxy', () => {
    expect(service('service').find((line) => line.startsWith('ports:'))).toMatch(/:\$\{SERVICE_PORT:-8081\}:8080'\]$/);
    expect(environmentOf('service')['TRUSTED_PROXY_HOPS']).toBe('1');
  });

  test('reads ./config where the image has its own, as every other role does', () => {
    expect(compose.join('\n')).toMatch(/^ {2}volumes: \['\.\/config:\/app\/config:ro'\]$/m);
    expect(service('service').join('\n')).toContain("'./config:/app/config:ro'");
  });
});

test('nothing that the image copies is kept out of its build', () => {
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
  const built = ['package.json', 'node_modules', 'dist'];
  for (const { from } of copiedIntoImage().filter(({ from: name }) => !built.includes(name)))
    expect(ignored).toContain(`!${from}`);
});
