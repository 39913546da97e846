import { afterEach, beforeEach, expect } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { helloStream } from '../bot/model/scripted-chat-server.ts';
import { useSlackDeployment, type SlackDeployment } from './slack-deployment.ts';

/** The rules say 2 s and 5 s, and the measurements are printed. These bounds leave room for a busy machine. */
export const REFUSED_WITHIN_MS = 6_000;
export const HEALED_WITHIN_MS = 15_000;

const ANSWER = 'It is answered.';

export interface Sent {
  person: number;
  userId: string;
  status: number;
  tookMs: number;
}

/** One bot (receiver and worker) in a separate process, and a Redis with faults. The bot is never restarted. */
export interface SufferingRedis {
  readonly deployment: SlackDeployment;
  /** The data folder of the server. */
  readonly dataDir: string;
  start(extraArguments?: string[]): Promise<void>;
  /** Starts it with a proxy between the bot and Redis. */
  startBehindProxy(): Promise<TcpProxy>;
  kill(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Sends a command to it, past any proxy. */
  tell(...command: string[]): Promise<unknown>;
  isReady(): Promise<boolean>;
  /** Delivers one question each of this many new people, concurrently. */
  deliver(count: number): Promise<Sent[]>;
  /** Delivers a question again. */
  deliverAgain(sent: Sent): Promise<Sent>;
  /**
   * Waits until a delivery is accepted and answered. @returns the time of each since the start of waiting, and the
   * deliveries tried
   */
  untilServed(limitMs?: number): Promise<{ takenMs: number; answeredMs: number; tried: Sent[] }>;
  /** Each acknowledged question has one complete answer; a refused one has at most one. */
  expectAnswered(all: Sent[]): Promise<void>;
  /** Each question has one complete answer, whether it was acknowledged or not. */
  expectAllAnswered(all: Sent[], limitMs?: number): Promise<void>;
}

export function useSufferingRedis(): SufferingRedis {
  let [port, people] = [0, 0];
  let server: EmbeddedRedis | undefined;
  let proxy: TcpProxy | undefined;
  const deployment = useSlackDeployment();
  const suffering = { deployment, dataDir: '' } as { -readonly [Name in keyof SufferingRedis]: SufferingRedis[Name] };

  beforeEach(async () => {
    port = await freePort();
    suffering.dataDir = mkdtempSync(join(tmpdir(), 'parley-faults-'));
    deployment.env['REDIS_URL'] = `redis://127.0.0.1:${port}/0`;
    deployment.chat.script(helloStream(ANSWER));
  });
  afterEach(async () => {
    await proxy?.close();
    await server?.stop();
    proxy = server = undefined;
    rmSync(suffering.dataDir, { recursive: true, force: true });
  });

  async function start(extraArguments: string[] = []): Promise<void> {
    server = await startEmbeddedRedis({ port, dataDir: suffering.dataDir, extraArguments });
  }

  async function deliverAs(person: number): Promise<Sent> {
    const userId = `U${person}`;
    const startedMs = performance.now();
    const status = await deployment.sender.event({
      type: 'message',
      channel_type: 'im',
      channel: `D${userId}`,
      user: userId,
      text: 'a question',
      ts: `1760000000.${String(person).padStart(6, '0')}`,
    });
    return { person, userId, status, tookMs: performance.now() - startedMs };
  }

  function deliver(count: number): Promise<Sent[]> {
    return Promise.all(Array.from({ length: count }, () => deliverAs((people += 1))));
  }

  async function expectAllAnswered(all: Sent[], limitMs = 30_000): Promise<void> {
    for (const { userId } of all) await deployment.untilShown(`D${userId}`, [ANSWER], limitMs);
  }

  return Object.assign(suffering, {
    start,
    async startBehindProxy() {
      await start();
      proxy = await startTcpProxy(port);
      deployment.env['REDIS_URL'] = `redis://127.0.0.1:${proxy.port}/0`;
      return proxy;
    },
    async kill() {
      if (server) process.kill(server.pid, 'SIGKILL');
      await server?.stop();
    },
    signal(signal: 'SIGSTOP' | 'SIGCONT') {
      if (server) process.kill(server.pid, signal);
    },
    async tell(...command: string[]) {
      const admin = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null });
      try {
        return await admin.call(command[0] ?? '', ...command.slice(1));
      } finally {
        admin.disconnect();
      }
    },
    async isReady() {
      const status = await fetch(`${deployment.botUrl}/readyz`).then(
        (response) => response.status,
        () => 0,
      );
      return status === 200;
    },
    deliver,
    deliverAgain: ({ person }: Sent) => deliverAs(person),
    async untilServed(limitMs = 10_000) {
      const startedMs = performance.now();
      const tried: Sent[] = [];
      while (tried.at(-1)?.status !== 200) {
        if (performance.now() - startedMs > limitMs) throw new Error('nothing was taken in time');
        tried.push(...(await deliver(1)));
      }
      const takenMs = performance.now() - startedMs;
      await expectAllAnswered(tried.slice(-1));
      return { takenMs, answeredMs: performance.now() - startedMs, tried };
    },
    async expectAnswered(all: Sent[]) {
      await expectAllAnswered(all.filter(({ status }) => status === 200));
      for (const { userId } of all) expect(deployment.textsIn(`D${userId}`).length).toBeLessThanOrEqual(1);
    },
    expectAllAnswered,
  });
}

export const slowestMs = (all: Sent[]) => Math.max(0, ...all.map(({ tookMs }) => tookMs));
export const statusesOf = (all: Sent[]) => [...new Set(all.map(({ status }) => status))];
/** Prints a measurement. */
export const report = (line: string) => process.stdout.write(`${line}\n`);
export const inSec = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
