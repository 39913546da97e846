import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../../../src/shared/http/http-server.ts';
import { freePort } from '../../../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../../../support/parley-process.ts';
import { startTestRedis, type TestRedis } from '../../../support/redis.ts';
import { SERVING } from '../../../bot/config/environments.ts';
import { startTestService, type TestService } from '../../../service/support.ts';
import { ProbeBrowser } from './probe-browser.ts';
import { lineIn } from './probe-run.ts';
import { CLIENT, startProbeStandIn } from './probe-stand-in.ts';

const LINK = /http:\/\/\S+\/sign-in\/probe\/[\w-]{43}/;
let running: ParleyProcess[] = [];
afterEach(async () => {
  for (const parley of running) parley.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  running = [];
});

async function check(args: string[], env: Record<string, string> = {}, until?: RegExp): Promise<ParleyProcess> {
  const command = ['node', 'dist/main.js', 'check', ...args];
  const parley = await startParleyProcess({ env, command, ...(until ? { until } : {}) });
  running.push(parley);
  return parley;
}

/** Settings of a deployment whose public address is on this machine. */
async function servingHere(more: Record<string, string>): Promise<Record<string, string>> {
  const port = await freePort();
  return { ...SERVING, HOST: '127.0.0.1', PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}`, ...more };
}

describe('npm run check -- --sign-in', () => {
  let redis: TestRedis;
  let service: TestService | undefined;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(async () => {
    await service?.close();
    await redis.stop();
  });

  test("tests Parley's own service on a real port, with sign-in and consent [sign-in-probe]", async () => {
    const env = await servingHere({ SIGN_IN_CLIENT_ID: 'parley', SIGN_IN_CLIENT_SECRET: 'secret-of-own-service' });
    const clientSecret = env['SIGN_IN_CLIENT_SECRET'] ?? '';
    const redirectUris = [`${env['PUBLIC_URL']}/oauth/callback`];
    // Five times faster: its codes live for two seconds.
    const startedMs = Date.now();
    service = await startTestService(redis.redis, {
      clients: [{ clientId: 'parley', clientSecret, name: 'Parley', redirectUris }],
      nowMs: () => startedMs + 5 * (Date.now() - startedMs),
    });
    const args = ['--sign-in', '--code-ages', '0.1,3', '--person', '20190001'];
    const parley = await check(args, { ...env, SIGN_IN_URL: service.url }, LINK);
    const browser = new ProbeBrowser({ username: 'zhangwei', password: 'zhangwei-pass' });
    await browser.walk(LINK.exec(parley.output())?.[0] ?? '');
    expect(await parley.ended).toBe(0);
    const line = (name: string) => lineIn(parley.output(), name);
    expect(line('State')).toBe('ok is returned unchanged');
    expect(line('Profile fields')).toBe('ok all required fields are present');
    expect(line('Same id')).toMatch(/^ok/);
    expect(line('Second use of a code')).toMatch(/^ok refused .*; it revokes the first token$/);
    expect(line('Wrong verifier')).toMatch(/^ok refused/);
    expect(line('Verifier without challenge')).toMatch(/^ok refused/);
    expect(line('Code after 0.1 s')).toBe('ok works');
    expect(line('Code after 3 s')).toMatch(/refused/);
    expect(line('After signing out')).toBe('ok the access token still works; the refresh token still works');
    expect(parley.output()).toContain('SIGN_IN_EXPIRES_UNIT=seconds');
    for (const secret of [clientSecret, '20190001', '张伟', 'zhangwei']) expect(parley.output()).not.toContain(secret);
  }, 60_000);

  test('ends on Ctrl+C with the findings so far and exit 1', async () => {
    const standIn = await startProbeStandIn();
    const env = await servingHere({
      SIGN_IN_URL: standIn.url,
      SIGN_IN_CLIENT_ID: CLIENT.id,
      SIGN_IN_CLIENT_SECRET: CLIENT.secret,
    });
    const parley = await check(['--sign-in'], env, LINK);
    const [browser, link] = [new ProbeBrowser(), LINK.exec(parley.output())?.[0] ?? ''];
    await browser.send(`${link}/start`, { form: {}, from: link });
    const back = (await browser.send((await browser.send(`${link}/go`)).headers.location ?? '')).headers.location;
    await browser.send(back ?? '');
    while (!parley.output().includes('Unknown token')) await new Promise((resolve) => setTimeout(resolve, 20));
    parley.kill('SIGINT');
    expect(await parley.ended).toBe(1);
    expect(parley.output()).toMatch(
      /fault {4}Probe +ended at step 2 of 9[\s\S]*Suggested settings:\n {2}SIGN_IN_STATE=/,
    );
    expect([...standIn.secrets].filter((secret) => parley.output().includes(secret))).toEqual([]);
    await standIn.close();
  });

  test('starts and tests the embedded service in local mode', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'parley-probe-'));
    const [port, servicePort] = [await freePort(), await freePort()];
    const env = { PORT: String(port), SERVICE_PORT: String(servicePort), DATA_DIR: dataDir, ENV_FILE: '/dev/null' };
    const parley = await check(['--sign-in', '--code-ages', '0.1'], env, LINK);
    const browser = new ProbeBrowser({ username: 'zhangwei', password: 'maple-river-18' });
    await browser.walk(LINK.exec(parley.output())?.[0] ?? '');
    expect(await parley.ended).toBe(0);
    expect(lineIn(parley.output(), 'After signing out')).toMatch(/^ok/);
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  test('uses the next free port in local mode if one is taken, like a start', async () => {
    const other = await listen((_request, response) => response.end('another'), 0, '127.0.0.1');
    const dataDir = mkdtempSync(join(tmpdir(), 'parley-probe-'));
    const taken = {
      PORT: String(await freePort()),
      SERVICE_PORT: String(other.port),
    };
    const parley = await check(['--sign-in'], { ...taken, DATA_DIR: dataDir, ENV_FILE: '/dev/null' }, LINK);
    expect(parley.output()).toMatch(
      new RegExp(`SERVICE_PORT ${other.port} is taken by .*\\(process ${process.pid}\\), so`),
    );
    parley.kill('SIGINT');
    await parley.ended;
    await other.close();
    rmSync(dataDir, { recursive: true, force: true });
  }, 60_000);

  test('has nothing to test with SIGN_IN=off', async () => {
    const parley = await check(['--sign-in'], { ...SERVING, SIGN_IN: 'off' });
    expect(await parley.ended).toBe(1);
    expect(parley.output()).toContain('Sign-in is off');
  });
});
