import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { got } from 'got';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkPlatform } from '../../src/cli/check/check-platform.ts';
import { freePort } from '../../src/bot/app/local/embedded-redis.ts';
import { LEASE_MS } from '../../src/bot/platforms/wecom/connection/lease.ts';
import { levelAfter, restMsAt } from '../../src/bot/platforms/wecom/connection/keep-connection.ts';
import { loadSettings } from '../../src/bot/config/load-settings.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import {
  RIVAL_SECRET,
  startRawConnections,
  startRival,
  type RawConnections,
} from '../support/raw-wecom-connections.ts';

jest.setTimeout(90_000);
let deployment: Deployment;
let wecom: RawConnections;
const processes: ParleyProcess[] = [];

beforeAll(async () => {
  deployment = await startDeployment({
    isConnected: true,
    startsBot: false,
    tokensPerSec: 20,
    env: { SIGN_IN: 'off', SIGN_IN_PROOF: '' },
  });
});
afterAll(() => deployment.stop());
beforeEach(async () => {
  wecom = await startRawConnections();
  deployment.env['WECOM_WS_URL'] = wecom.url;
});
afterEach(async () => {
  await deployment.stopBot();
  for (const one of processes) one.kill('SIGKILL');
  await Promise.all(processes.splice(0).map(({ ended }) => ended));
  await wecom.stop();
  await deployment.redis.flushall();
  deployment.lines.splice(0);
});

const ours = () => wecom.frames.filter(({ cmd, body }) => cmd === 'aibot_subscribe' && body['secret'] !== RIVAL_SECRET);
const startBot = async () => {
  await deployment.startBot();
  await untilTrue(() => wecom.isSubscribed);
};
const startReceiver = async () => {
  const PORT = String(await freePort());
  const parley = await startParleyProcess({
    env: { ...deployment.env, PORT, ROLES: 'receiver' },
    until: /is running|has started/,
  });
  processes.push(parley);
  return Object.assign(parley, { url: `http://127.0.0.1:${PORT}` });
};
const last = (reqId: string) => wecom.shown(reqId).at(-1);
const linesOf = (words: string) => deployment.lines.filter((line) => line.includes(words));
const readiness = async (url = deployment.botUrl) => {
  const { statusCode, body } = await got(`${url}/readyz`, { throwHttpErrors: false, retry: { limit: 0 } });
  return { statusCode, part: (JSON.parse(body) as { parts: Record<string, string> }).parts['wecom-connection'] };
};
const REPLACED = expect.stringContaining('another program is connected as this bot');

test('the connection is regained seconds after another program took it, and a running answer ends in its stream [replaced-connection]', async () => {
  await startBot();
  await untilTrue(async () => (await readiness()).part === 'ready');
  const request = wecom.say('count to 60');
  await untilTrue(() => (last(request)?.content.length ?? 0) > 5);
  const rival = await startRival(wecom.url);
  const replacedMs = performance.now();
  await untilTrue(async () => (await readiness()).statusCode === 503);
  expect(await readiness()).toEqual({ statusCode: 503, part: REPLACED });
  await untilTrue(() => ours().length === 2);
  expect(performance.now() - replacedMs).toBeLessThan(5_000);
  await untilTrue(() => last(request)?.finish === true, 20_000);
  expect(last(request)?.content).toMatch(/^1 2 3 .* 59 60$/);
  expect(new Set(wecom.shown(request).map(({ streamId }) => streamId)).size).toBe(1);
  expect(await readiness()).toEqual({ statusCode: 200, part: 'ready' });
  const metrics = await got(`${deployment.botUrl}/metrics`).text();
  expect(metrics).toContain('parley_connection_changes_total{platform="wecom",state="replaced"} 1');
  expect(Number(/connection_gap_seconds_total\{platform="wecom"\} ([\d.]+)/.exec(metrics)?.[1])).toBeGreaterThan(0.9);
  expect(linesOf('another program connected as this bot')).toHaveLength(1);
  expect(rival.visits).toBe(1);
});

test('a program that stays connected causes increasing pauses and a log line that says what to do [replaced-connection]', async () => {
  await startBot();
  const rival = await startRival(wecom.url, true);
  await untilTrue(() => ours().length === 4, 30_000);
  const atMs = ours().map(({ atMs: each }) => each);
  const pausesMs = atMs.slice(1).map((each, index) => each - (atMs[index] ?? 0));
  // Each pause lies between half and all of twice the previous one.
  for (const [index, pauseMs] of pausesMs.entries()) expect(pauseMs).toBeGreaterThanOrEqual(1_000 * 2 ** index - 20);
  await untilTrue(() => linesOf('give it its own bot').length > 0);
  await untilTrue(async () => (await readiness()).statusCode === 503);
  const settings = loadSettings({ env: deployment.env, cwd: process.cwd() });
  expect(settings.ok && (await checkPlatform('wecom', settings))).toContainEqual(
    expect.objectContaining({ verdict: 'fault', detail: expect.stringContaining('another program is connected') }),
  );
  rival.leave();
  await untilTrue(() => wecom.newest === ours().at(-1)?.connection, 30_000);
  const request = wecom.say('count to 5');
  await untilTrue(() => last(request)?.finish === true);
  expect(last(request)?.content).toBe('1 2 3 4 5');
});

test('a standby leaves the connection to its holder, reports the same state, and keeps waiting if the holder dies [replaced-connection]', async () => {
  const holder = await startReceiver();
  await untilTrue(() => wecom.isSubscribed);
  const standby = await startReceiver();
  await untilTrue(async () => (await readiness(standby.url)).part === 'ready');
  const rival = await startRival(wecom.url, true);
  await untilTrue(async () => (await readiness(standby.url)).statusCode === 503, 20_000);
  expect((await readiness(standby.url)).part).toEqual(REPLACED);
  // The rest of the pause is longer than the lease of a dead holder.
  const [key = ''] = await deployment.redis.keys('{wecom-bot:*}:lease');
  const restMs = async () => Number(await deployment.redis.hget(key, 'returnAtMs')) - Date.now();
  await untilTrue(async () => (await restMs()) > LEASE_MS + 1_500, 20_000);
  const [visits, diedMs, leftMs] = [ours().length, performance.now(), await restMs()];
  holder.kill('SIGKILL');
  rival.leave();
  await untilTrue(() => ours().length > visits, 30_000);
  expect(performance.now() - diedMs).toBeGreaterThanOrEqual(leftMs - 200);
  await untilTrue(async () => (await readiness(standby.url)).part === 'ready');
  expect(
    Number(/connection_gap_seconds_total\S* ([\d.]+)/.exec(await got(`${standby.url}/metrics`).text())?.[1]),
  ).toBeGreaterThan(2.8);
});

test('a program that connects during a take-over is handled like any other [replaced-connection]', async () => {
  const holder = await startReceiver();
  await untilTrue(() => wecom.isSubscribed);
  await startReceiver();
  holder.kill('SIGKILL');
  await untilTrue(() => !wecom.isSubscribed);
  const rival = await startRival(wecom.url);
  await untilTrue(() => ours().length === 2, 10_000);
  const again = await startRival(wecom.url);
  await untilTrue(() => ours().length === 3, 10_000);
  await sleep(500);
  expect(wecom.isSubscribed).toBe(true);
  expect([rival.visits, again.visits]).toEqual([1, 1]);
});

test('pauses grow with consecutive replacements up to a minute, and shrink with the time of an undisturbed connection [replaced-connection]', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 30 * 60_000 }), { minLength: 1, maxLength: 60 }), (heldMs) => {
      let level = 0;
      for (const undisputedMs of heldMs) {
        const before = level;
        level = levelAfter(level, undisputedMs);
        const restMs = restMsAt(level);
        expect(restMs).toBeGreaterThanOrEqual(1_000);
        expect(restMs).toBeLessThanOrEqual(60_000);
        if (undisputedMs < 60_000 && before >= 5) expect(restMs).toBeGreaterThanOrEqual(30_000);
        if (undisputedMs >= 6 * 60_000) expect(restMs).toBeLessThanOrEqual(2_000);
      }
    }),
  );
});
