import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { startParleyProcess, type ParleyProcess } from '../support/parley-process.ts';
import { begin, engineChunk, startEngine, type StandInEngine } from './stand-in-engine.ts';
import { API_KEY } from './support.ts';
import { ask, HELLO } from './upstream-support.ts';

const STREAMS = 20;
const MAX_GROWTH_MIB = 60;
/**
 * Fixed for every Node version: Node 24 lets garbage grow to twice as much as Node 20 does before a collection, which this
 * test does not measure.
 */
const GARBAGE_LIMIT = '--max-semi-space-size=16';

let redis: EmbeddedRedis;
let engine: StandInEngine;
let service: ParleyProcess;
let url: string;
let writtenBytes = 0;

beforeAll(async () => {
  redis = await startEmbeddedRedis();
  const line = engineChunk({ content: 'x'.repeat(60_000) });
  engine = await startEngine((response) => {
    begin(response);
    const write = () => {
      while (!response.destroyed) {
        writtenBytes += line.length;
        if (!response.write(line)) return;
      }
    };
    response.on('drain', write);
    write();
  });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  service = await startParleyProcess({
    command: ['node', GARBAGE_LIMIT, 'dist/main.js'],
    env: {
      ROLES: 'service',
      PORT: String(port),
      HOST: '127.0.0.1',
      PUBLIC_URL: url,
      REDIS_URL: redis.url,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SERVICE_API_KEYS: API_KEY,
      SERVICE_UPSTREAM_URL: engine.url,
      LOG_FORMAT: 'json',
    },
    until: /is running|has started/,
  });
});
afterAll(async () => {
  service.kill('SIGTERM');
  await service.ended;
  await engine.stop();
  await redis.stop();
});

const residentMib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1_024;

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('20 clients that do not read use little memory of the service, and the engine waits', async () => {
  const warm = ask({ url }, { ...HELLO, stream: true });
  await warm.answered;
  warm.leave();
  const beforeMib = residentMib();
  const asked = Array.from({ length: STREAMS }, () => ask({ url }, { ...HELLO, stream: true }));
  await Promise.all(asked.map(({ answered }) => answered));
  try {
    await untilStill();
    expect(residentMib() - beforeMib).toBeLessThan(MAX_GROWTH_MIB);
  } finally {
    for (const { leave } of asked) leave();
  }
});

/** Waits until the engine writes no more. The sockets in between buffer some megabytes each first. */
async function untilStill(): Promise<void> {
  for (let before = -1; before !== writtenBytes;) {
    before = writtenBytes;
    await sleep(500);
  }
}
