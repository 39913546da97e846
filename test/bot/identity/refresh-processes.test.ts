import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';

const PROCESSES = 4;
const CALLERS_EACH = 50;
const TOKEN_LIFE_MS = 7_200_000;

let server: TestRedis;
let fixture: IdentityFixture;
/** Workers that a test did not kill are reused by the next test. */
let workers: Worker[] = [];
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(() => fixture.close());
afterAll(async () => {
  await Promise.all(workers.map(({ end }) => end()));
  await server.stop();
});

interface Ends {
  tokens: string[];
  tookMs: number;
}

interface Worker {
  /** Resets the worker to its state after a start. */
  begin(start: object): Promise<unknown>;
  /** Makes this many parallel requests. */
  ask(callers: number): Promise<Ends>;
  kill(): void;
  isKilled(): boolean;
  end(): Promise<void>;
}

/** Prepares four processes whose clocks show the expiry of 20001's token. */
async function openAtExpiry(): Promise<void> {
  const secretKey = randomBytes(32);
  const signIn = { proof: ['same-id'], keepTokens: 'both' } as const;
  fixture = await startIdentityFixture(server.redis, { signIn, identity: { keyRing: new KeyRing([secretKey]) } });
  await fixture.walk(fixture.browser('20001'), await fixture.link('20001'));
  fixture.clock.nowMs += TOKEN_LIFE_MS;
  const start = {
    redisUrl: server.url,
    secretKey: secretKey.toString('base64'),
    publicUrl: fixture.url,
    signIn: fixture.options.signIn,
    nowMs: fixture.clock.nowMs,
    ...{ owner: fixture.owner, chatUserId: '20001' },
  };
  const living = workers.filter(({ isKilled }) => !isKilled());
  workers = [...living, ...Array.from({ length: PROCESSES - living.length }, startWorker)];
  await Promise.all(workers.map((worker) => worker.begin(start)));
}

function startWorker(): Worker {
  const child = fork(new URL('./refresh-process.mjs', import.meta.url), {
    execArgv: [],
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const ask = (message: object) => answerOf(child, message);
  return {
    begin: (start) => ask({ start }),
    ask: (callers) => ask({ callers }),
    kill: () => void child.kill('SIGKILL'),
    isKilled: () => child.killed,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function answerOf(child: ChildProcess, message: object): Promise<Ends> {
  const answered = once(child, 'message');
  child.send(message);
  const [ends] = (await answered) as [Ends];
  return ends;
}

const askAll = (some = workers) => Promise.all(some.map((worker) => worker.ask(CALLERS_EACH)));
const refreshes = () => fixture.service.seen.refreshes.length;
const lockName = async () => ((await server.redis.keys('{id}:link:*'))[0] ?? '').replace(':link:', ':lock:');

async function refreshAsked(): Promise<void> {
  while (refreshes() === 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('4 processes with 50 callers each at token expiry [one-refresh] [refresh-race]', () => {
  test('make one refresh call, and all 200 callers get its token within 5 s', async () => {
    await openAtExpiry();
    fixture.service.scripted.refresh = () => ({ delayMs: 100 });
    const ends = await askAll();
    const tokens = ends.flatMap((end) => end.tokens);
    expect(tokens).toHaveLength(200);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^AT:/);
    expect(refreshes()).toBe(1);
    expect(Math.max(...ends.map(({ tookMs }) => tookMs))).toBeLessThan(5_000);
  });

  test('wait for the lock of a killed holder to expire, and make one further call', async () => {
    await openAtExpiry();
    fixture.service.scripted.refresh = () => (refreshes() === 1 ? { delayMs: 60_000 } : undefined);
    const [holder, ...others] = workers;
    void holder?.ask(CALLERS_EACH).catch(() => undefined);
    await refreshAsked();
    const pending = askAll(others);
    holder?.kill();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(refreshes()).toBe(1);
    const leftMs = await server.redis.pttl(await lockName());
    expect(leftMs).toBeGreaterThan(12_000);
    // Skips the rest of the lock's 15 s.
    await server.redis.pexpire(await lockName(), 1);
    const tokens = (await pending).flatMap((end) => end.tokens);
    expect(tokens).toHaveLength(150);
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/^AT:/);
    expect(refreshes()).toBe(2);
  });

  for (const [what, scripted] of [
    ['too late', { delayMs: 7_000 }],
    ['with 503', { status: 503, body: '', delayMs: 100 }],
  ] as const) {
    test(`make one call if the service answers ${what}, none without the lock, and keep the tokens`, async () => {
      await openAtExpiry();
      fixture.service.scripted.refresh = () => scripted;
      const ends = (await askAll()).flatMap((end) => end.tokens);
      expect(ends).toHaveLength(200);
      expect(new Set(ends)).toEqual(new Set(['failed: refresh_later']));
      expect(refreshes()).toBe(1);
      fixture.service.scripted = {};
      fixture.clock.nowMs += 60_000;
      expect(await fixture.identity.freshAccessToken(fixture.owner, '20001')).toMatch(/^AT:/);
    });
  }
});
