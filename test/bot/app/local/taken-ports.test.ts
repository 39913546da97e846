import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { listen, type ListeningServer } from '../../../../src/shared/http/http-server.ts';
import { holderOfPort } from '../../../../src/shared/http/port-holder.ts';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { failureOfStart } from '../../../../src/cli/start/start-failure.ts';
import { takeFreePorts } from '../../../../src/bot/app/take-free-ports.ts';
import { load, loadSound, SERVING } from '../../config/environments.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { untilTrue } from '../../../support/deployment.ts';
import { got } from 'got';
import { CLOSED_PORT } from '../../../support/closed-port.ts';

const US = `${basename(process.execPath)} (process ${process.pid})`;
const taken: ListeningServer[] = [];
const running: ParleyProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const server of taken.splice(0)) await server.close();
  for (const parley of running) parley.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A port on which another server listens. */
async function takenPort(): Promise<number> {
  const server = await listen((_request, response) => response.end('another'), 0, '127.0.0.1');
  taken.push(server);
  return server.port;
}

/** A taken port whose next higher port is free. */
async function takenPortBelowFree(): Promise<number> {
  for (;;) {
    const port = await takenPort();
    const next = await listen((_request, response) => response.end(), port + 1, '127.0.0.1').catch(() => undefined);
    if (!next) continue;
    await next.close();
    return port;
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-taken-'));
  folders.push(folder);
  return folder;
}

async function localPorts(): Promise<Record<'PORT' | 'SERVICE_PORT' | 'MESSENGER_PORT', string>> {
  const [PORT, SERVICE_PORT, MESSENGER_PORT] = [await freePort(), await freePort(), await freePort()].map(String);
  return { PORT: PORT ?? '', SERVICE_PORT: SERVICE_PORT ?? '', MESSENGER_PORT: MESSENGER_PORT ?? '' };
}

async function start(env: Record<string, string>, until?: RegExp): Promise<ParleyProcess> {
  const parley = await startParleyProcess({
    env: { ENV_FILE: '/dev/null', LOG_FORMAT: 'json', LOG_LEVEL: 'info', ...env },
    ...(until ? { until } : {}),
  });
  running.push(parley);
  return parley;
}

describe('npm start in local mode', () => {
  test('replaces a taken port by the next free one in every address that depends on it', async () => {
    const ports = { ...(await localPorts()), PORT: String(await takenPortBelowFree()) };
    const env = { ...ports, MESSENGER_PORT: String(Number(ports.PORT) + 1) };
    const { settings, moved } = await takeFreePorts(loadSound(env), (more) => load({ ...env, ...more }));
    const port = settings.config.http.port;
    expect(port).toBeGreaterThan(Number(env.MESSENGER_PORT));
    expect(moved).toEqual([{ setting: 'PORT', from: Number(env.PORT), to: port, holder: US }]);
    expect(settings.config.http.publicUrl).toBe(`http://127.0.0.1:${port}`);
  });

  test('keeps the port of an address that is set, and moves only taken ports', async () => {
    const ports = await localPorts();
    const PORT = String(await takenPort());
    const env = { ...ports, PORT, PUBLIC_URL: `http://localhost:${PORT}`, SERVICE_PORT: String(await takenPort()) };
    const { settings, moved } = await takeFreePorts(loadSound(env), (more) => load({ ...env, ...more }));
    expect([settings.config.http.port, moved.map(({ setting }) => setting)]).toEqual([Number(PORT), ['SERVICE_PORT']]);
    expect(settings.config.chat.baseUrl).toBe(`http://127.0.0.1:${moved[0]?.to}/v1`);
    expect((await takeFreePorts(loadSound(ports), () => load({}))).moved).toEqual([]);
    expect((await takeFreePorts(loadSound({ ...SERVING, PORT }), () => load({}))).moved).toEqual([]);
  });

  test('prints the taken port and its replacement, to which the sign-in leads', async () => {
    const ports = { ...(await localPorts()), PORT: String(await takenPort()) };
    const parley = await start({ ...ports, DATA_DIR: newFolder() }, /Open http/);
    expect(parley.output()).toContain(`PORT ${ports.PORT} is taken by ${US}, so`);
    const url = /^ +bot +(http:\S+)$/m.exec(parley.output())?.[1] ?? '';
    expect(url).not.toBe(`http://127.0.0.1:${ports.PORT}`);
    await untilTrue(async () => (await got(`${url}/readyz`, { throwHttpErrors: false })).statusCode === 200);
    const signIn = `http://127.0.0.1:${ports.SERVICE_PORT}/oauth2.0/authorize`;
    const query = { response_type: 'code', client_id: 'parley', redirect_uri: `${url}/oauth/callback`, state: 's' };
    expect((await got(signIn, { searchParams: query })).statusCode).toBe(200);
  });

  test('exits with 2 and one sentence with the process if another Parley uses the data directory', async () => {
    const dataDir = newFolder();
    const first = await start({ ...(await localPorts()), DATA_DIR: dataDir }, /Open http/);
    const second = await start({ ...(await localPorts()), DATA_DIR: dataDir });
    expect(await second.ended).toBe(2);
    expect(second.output().trim().split('\n')).toEqual([
      expect.stringMatching(
        new RegExp(`^Another Parley is using .*parley-taken-.*: stop node \\(process ${first.pid}\\), or set DATA_DIR`),
      ),
    ]);
  });
});

describe('npm start in server mode', () => {
  test('prints one sentence with port, setting and process for a taken port, without a stack, and exits with 2', async () => {
    const PORT = String(await takenPort());
    const env = { ...SERVING, PORT, HOST: '127.0.0.1', REDIS_URL: `redis://127.0.0.1:${CLOSED_PORT}` };
    const parley = await start(env);
    expect(await parley.ended).toBe(2);
    const told = parley
      .output()
      .trim()
      .split('\n')
      .filter((line) => !line.includes('redis is unavailable'));
    expect(told).toEqual([`PORT ${PORT} is taken by ${US}: stop that program, or set PORT to another port`]);
    expect(parley.output()).not.toContain('    at ');
  });

  test.each([
    ['EACCES', 80, /^PORT 80 requires privileges that this user does not have: set PORT/],
    ['EADDRNOTAVAIL', 80, /^HOST .* is not an address of this machine: set HOST/],
  ])('reports %s as one sentence about the settings', (code, port, sentence) => {
    const error = Object.assign(new Error('listen'), { code, port, syscall: 'listen' });
    expect(failureOfStart(error, loadSound({ ...SERVING, PORT: '80' }).config)).toEqual({
      sentence: expect.stringMatching(sentence),
      isOfSettings: true,
    });
  });

  test('reports an unexpected error as a sentence without a stack', () => {
    const failure = failureOfStart(new TypeError('nobody thought of it'), loadSound(SERVING).config);
    expect(failure).toEqual({ sentence: expect.stringContaining('nobody thought of it'), isOfSettings: false });
  });
});

test('holderOfPort returns the process that listens on a port, or undefined', async () => {
  expect(holderOfPort(await takenPort())).toBe(US);
  expect(holderOfPort(CLOSED_PORT)).toBeUndefined();
});
