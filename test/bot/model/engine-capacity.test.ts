import dns from 'node:dns';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { monotonicMs } from '../../../src/shared/clock.ts';
import {
  engineName,
  shareScript,
  shareThroughRedis,
  type CapacityShare,
} from '../../../src/bot/model/capacity-share.ts';
import { createChatClient, type ChatClient } from '../../../src/bot/model/chat-client.ts';
import { EngineCapacity } from '../../../src/bot/model/engine-capacity.ts';
import type { ChatLimits } from '../../../src/bot/model/chat-limits.ts';
import type { ChatReport, WaitReason } from '../../../src/bot/model/chat-types.ts';
import { recordingLog } from '../../support/redis.ts';
import { shippedModels } from '../../support/shipped-models.ts';
import { everyNth } from '../../support/tries.ts';
import { untilTrue } from '../../support/until-true.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { LimitedEngine } from './limited-engine.ts';
import { chunk } from './scripted-chat-server.ts';

const redis = useTestRedis();

interface Worker {
  client: ChatClient;
  store: Redis;
  share: CapacityShare;
  waits: string[];
  limits: number[];
  breaker: string[];
  lines: string[];
}

let engine: LimitedEngine;
let workers: Worker[] = [];

function startWorker(limits: Partial<ChatLimits> = {}, baseUrl = engine.baseUrl): Worker {
  const store = new Redis(redis.url);
  const share = shareThroughRedis(store);
  const { log, lines } = recordingLog();
  const waits: string[] = [];
  const learned: number[] = [];
  const breaker: string[] = [];
  const report: ChatReport = {
    callEnded: () => undefined,
    retried: () => undefined,
    waited: ({ reason }) => void waits.push(reason),
    limitChanged: ({ limit }) => void learned.push(limit),
    breakerChanged: ({ state }) => void breaker.push(state),
    fellBack: () => undefined,
    unknownFinishReason: () => undefined,
  };
  const client = createChatClient({
    ...{ baseUrl, apiKey: 'sk-none', catalog: shippedModels(), nowMs: () => Date.now(), log, report, share, limits },
  });
  const worker = { client, store, share, waits, limits: learned, breaker, lines };
  workers.push(worker);
  return worker;
}

/** Asks like a turn. @returns the text or the error code, and the wait reasons shown */
async function ask(
  { client }: Worker,
  {
    ageMs = 0,
    patienceMs = 20_000,
    signal = new AbortController().signal,
    fallbackModel = undefined as string | undefined,
  } = {},
): Promise<{ text: string; told: WaitReason[] }> {
  const told: WaitReason[] = [];
  const nowMs = monotonicMs();
  const waitPolicy = {
    askedAtMs: nowMs - ageMs,
    untilMs: nowMs + patienceMs,
    waits: (why: WaitReason) => void told.push(why),
  };
  const request = { model: 'svc-plus', fallbackModel, messages: [{ role: 'user' as const, content: 'x' }], waitPolicy };
  let text = '';
  await client
    .stream(request, signal, (event) => {
      if (event.type === 'text') text += event.delta;
    })
    .catch((error: unknown) => {
      text = (error as { code: string }).code;
    });
  return { text, told };
}

const texts = async (asked: Promise<{ text: string }>[]): Promise<string[]> =>
  (await Promise.all(asked)).map(({ text }) => text);
const times = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));

beforeEach(async () => {
  await redis.redis.flushall();
  engine = await new LimitedEngine(10).start();
});
afterEach(async () => {
  for (const { client, store } of workers) {
    await client.close();
    store.disconnect();
  }
  workers = [];
  await engine.stop();
});

describe('an engine that serves 10 calls at once', () => {
  const REFUSALS: [what: string, refusal: LimitedEngine['refusal']][] = [
    ['429', { status: 429, headers: {}, body: '' }],
    ['429 with Retry-After in seconds', { status: 429, headers: { 'retry-after': '1' }, body: '' }],
    ['503 overloaded', { status: 503, headers: {}, body: '{"error":{"message":"Server overloaded"}}' }],
    ['a bare 503', { status: 503, headers: {}, body: '' }],
    ['529', { status: 529, headers: {}, body: '' }],
    [
      'an error in a body of status 200',
      {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: '{"choices":null,"base_resp":{"status_code":1002}}',
      },
    ],
  ];
  test.each(everyNth(REFUSALS, 3))(
    'answers 100 parallel questions of two workers: %s [engine-capacity] [engine-limit]',
    async (_name, refusal) => {
      engine.refusal = refusal;
      // Long enough that a busy machine sends more than 10 calls meanwhile.
      engine.answerMs = 200;
      const pair = [startWorker(), startWorker()] as const;
      // A busy machine may need longer than people wait.
      const askOne = (index: number) => ask(pair[index % 2 === 0 ? 0 : 1], { patienceMs: 45_000 });
      const answers = await texts(times(100, askOne));
      expect(answers.filter((text) => text !== 'ok')).toEqual([]);
      expect(engine.served).toBe(100);
      const burst = engine.refused.length;
      expect(burst).toBeGreaterThan(0);
      // A second burst stays within the learned limit.
      expect(await texts(times(60, askOne))).toEqual(times(60, () => 'ok'));
      // A bare 503 may be a fault, so it is retried before it counts.
      expect(engine.refused.length - burst).toBeLessThan(refusal.status === 503 && refusal.body === '' ? 60 : 20);
    },
    60_000,
  );

  test('leaves the retries for other faults when it refuses many calls [engine-capacity] [bounded-retries]', async () => {
    const worker = startWorker({ retryShare: 0 });
    engine.answerMs = 1_000;
    await texts(times(30, () => ask(worker)));
    // More than the reserve of retries.
    expect(engine.refused.length).toBeGreaterThan(11);
    engine.answerMs = 50;
    const before = engine.refused.length;
    engine.refusal = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>maintenance</html>' };
    engine.limit = 0;
    const asked = ask(worker);
    await untilTrue(() => engine.refused.length > before);
    engine.limit = 10;
    expect((await asked).text).toBe('ok');
  }, 60_000);

  test('gets no calls until Retry-After has passed, and then a gradual increase [engine-capacity]', async () => {
    // The header has whole seconds.
    const freeAtMs = performance.now() + 2_000;
    engine.refusal.headers = { 'retry-after': new Date(Date.now() + 3_000).toUTCString() };
    engine.answerMs = 100;
    const worker = startWorker();
    expect(await texts(times(60, () => ask(worker)))).toEqual(times(60, () => 'ok'));
    const later = engine.arrivals.slice(60);
    const [next = 0] = later;
    expect(next).toBeGreaterThan(freeAtMs);
    expect(later.filter((atMs) => atMs - next < 200).length).toBeLessThan(8);
  }, 60_000);

  test('may be asked for more right after its first wait, and ever later while it stays full [engine-capacity]', async () => {
    const { share, store } = startWorker();
    const name = '{engine}:capacity:full';
    const waitsSec: number[] = [];
    for (let refusal = 0; refusal < 7; refusal += 1) {
      await share.report(name, {
        ...{ held: 10, running: 10, top: 10, waiting: 5, waitedMs: 0, passed: 0, refused: 1, pauseMs: 10_000 },
      });
      const { growAt, pausedUntil } = await store.hgetall(name);
      waitsSec.push(Math.round((Number(growAt) - Number(pausedUntil)) / 1_000));
      // The wait passes.
      await store.hset(name, { growAt: '0', pausedUntil: '1' });
    }
    expect(waitsSec).toEqual([0, 0, 0, 6, 10, 10, 10]);
  });

  test('is probed with one call after five seconds of a long Retry-After, before the other questions [engine-capacity]', async () => {
    engine.refusal.headers = { 'retry-after': '120' };
    engine.limit = 0;
    const worker = startWorker();
    const asked = times(8, () => ask(worker));
    await pause(500);
    engine.limit = 10;
    expect(await texts(asked)).toEqual(times(8, () => 'ok'));
    const [first = 0] = engine.refused;
    const [probe = 0, second = 0] = engine.arrivals.slice(engine.refused.length);
    expect(probe - first).toBeGreaterThanOrEqual(5_000);
    expect(second).toBeGreaterThan(probe);
  }, 60_000);

  test.each([
    ['no accepted call between', 0, [5, 10, 20, 40]],
    ['accepted calls between', 1, [5, 5, 5, 5]],
  ])('is probed later after each refusal in a row: with %s [engine-capacity]', async (_name, passed, expected) => {
    const name = `{engine}:capacity:p${passed}`;
    const report = { held: 0, running: 0, top: 0, waiting: 5, waitedMs: 0, passed, refused: 1, pauseMs: 120_000 };
    for (const pauseSec of expected) {
      // Workers that have just started report only their refusals.
      const { share, store } = startWorker();
      expect(Math.round((await share.report(name, report)).againInMs / 1_000)).toBe(pauseSec);
      await store.hset(name, { pausedUntil: '1' });
    }
  });

  test('serves the oldest question first, whichever worker holds it [engine-capacity]', async () => {
    engine.limit = 1;
    engine.answerMs = 100;
    const pair = [startWorker(), startWorker()] as const;
    await texts([ask(pair[0]), ask(pair[0])]);
    await texts([ask(pair[1]), ask(pair[1])]);
    const order: number[] = [];
    const ages = [3_000, 9_000, 1_000, 7_000, 5_000, 11_000];
    const busy = ask(pair[0], { ageMs: 60_000 });
    await pause(30);
    await Promise.all([
      busy,
      ...ages.map((ageMs, index) => ask(pair[index % 2 === 0 ? 0 : 1], { ageMs }).then(() => order.push(ageMs))),
    ]);
    expect(order).toEqual([...ages].sort((one, other) => other - one));
  }, 60_000);

  test('informs a waiting person, and frees the place of an aborted question [engine-capacity]', async () => {
    engine.limit = 1;
    engine.answerMs = 2_500;
    const worker = startWorker();
    const stop = new AbortController();
    const first = ask(worker);
    await pause(100);
    const stopped = ask(worker, { signal: stop.signal, ageMs: 1_000 });
    const last = ask(worker);
    await pause(1_500);
    stop.abort('stopped');
    expect(await stopped).toEqual({ text: 'chat_cancelled', told: ['capacity'] });
    expect((await first).text).toBe('ok');
    expect(await last).toEqual({ text: 'ok', told: ['capacity'] });
    expect(worker.waits).toContain('capacity');
    expect(worker.limits[0]).toBe(1);
  }, 60_000);

  test('fails with its own error once the waitPolicy of a question is exhausted [engine-capacity]', async () => {
    engine.limit = 0;
    engine.refusal.headers = { 'retry-after': '120' };
    expect((await ask(startWorker(), { patienceMs: 1_500 })).text).toBe('chat_rate_limited');
    expect(engine.arrivals).toHaveLength(1);
  }, 60_000);

  test('is replaced by the fallback model after a short wait [engine-capacity]', async () => {
    engine.limit = 0;
    const worker = startWorker({ fallbackAfterMs: 200 });
    setTimeout(() => (engine.limit = 10), 3_000);
    const startedMs = performance.now();
    expect((await ask(worker, { fallbackModel: 'svc-max' })).text).toBe('ok');
    expect(performance.now() - startedMs).toBeGreaterThan(200);
  }, 60_000);

  test('waits neither for the calls nor for the older questions of a dead worker [engine-capacity]', async () => {
    engine.limit = 2;
    const worker = startWorker();
    await texts(times(4, () => ask(worker)));
    const name = engineName(engine.baseUrl, 'svc-plus');
    const calls = { held: 2, running: 2, top: 2, waiting: 9, waitedMs: 60_000 };
    const report = { seq: 1, ...calls, passed: 0, refused: 0, pauseMs: 0 };
    await shareScript.run(redis.redis, { engine: name }, { process: 'dead', channel: 'none', ...report });
    const waiting = ask(worker, { patienceMs: 10_000 });
    await pause(300);
    expect(engine.running).toBe(0);
    expect((await waiting).text).toBe('ok');
  }, 60_000);

  test('uses a larger engine within seconds, however long its answers take [engine-capacity]', async () => {
    engine.limit = 2;
    engine.answerMs = 120_000;
    const worker = startWorker();
    const stop = new AbortController();
    const asked = times(30, () => ask(worker, { patienceMs: 120_000, signal: stop.signal }));
    await untilTrue(() => engine.refused.length > 0 && engine.running === 2, 10_000);
    engine.limit = 100;
    await untilTrue(() => engine.running === 30, 40_000);
    stop.abort();
    await Promise.all(asked);
  });

  test('costs no Redis commands before the first refusal [engine-capacity]', async () => {
    const worker = startWorker();
    await worker.store.ping();
    const before = Number(/total_commands_processed:(\d+)/.exec(await redis.redis.info('stats'))?.[1]);
    await texts(times(10, () => ask(worker)));
    const after = Number(/total_commands_processed:(\d+)/.exec(await redis.redis.info('stats'))?.[1]);
    // INFO itself, and at most the subscription.
    expect(after - before).toBeLessThanOrEqual(3);
  });

  test('halves a known limit at most, although one call happens to run when the engine refuses [engine-capacity]', async () => {
    const idle = { running: 0, top: 0, waiting: 0, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const send = (seq: number, change: object) =>
      shareScript.run(
        redis.redis,
        { engine: '{engine}:capacity:y' },
        { process: 'a', channel: 'none', seq, held: 1, ...idle, ...change },
      );
    expect(await send(1, { running: 16, top: 16, refused: 1 })).toMatchObject({ limit: 16 });
    expect(await send(2, { running: 1, top: 1, refused: 1 })).toMatchObject({ limit: 8 });
    expect(await send(3, { refused: 1 })).toMatchObject({ limit: 4 });
  });

  test('keeps the limit at rare refusals below what the engine served, but not at many [engine-capacity]', async () => {
    const idle = { running: 15, top: 15, waiting: 0, waitedMs: 0, passed: 0, refused: 1, pauseMs: 0 };
    let seq = 0;
    const send = async (change: object) => {
      const report = { process: 'a', channel: 'none', seq: (seq += 1), held: 1, ...idle, ...change };
      return (await shareScript.run(redis.redis, { engine: '{engine}:capacity:z' }, report)).limit;
    };
    expect(await send({ running: 16, top: 16 })).toBe(16);
    expect(await send({ passed: 9 })).toBe(15);
    expect(await send({ passed: 60, refused: 0, running: 16, top: 16 })).toBe(16);
    // One of ten calls, and at most two in a row.
    expect(await send({})).toBe(16);
    expect(await send({})).toBe(16);
    expect(await send({ passed: 9 })).toBe(15);
    expect(await send({ passed: 10, refused: 2, running: 1, top: 1 })).toBe(7);
    // With more calls than the engine served before, the refusal is about their number.
    expect(await send({ passed: 10, running: 2, top: 2 })).toBe(3);
  });

  test('is asked for more once it served as many calls as allowed, and not paused by a rare refusal [engine-capacity]', async () => {
    const name = '{engine}:capacity:g';
    const report = { held: 3, running: 3, top: 4, waiting: 9, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const { share, store } = startWorker();
    await share.report(name, { ...report, refused: 1, pauseMs: 1_000 });
    await store.hset(name, { growAt: '0', pausedUntil: '1' });
    // A call has just ended.
    expect(await share.report(name, { ...report, passed: 20 })).toMatchObject({ limit: 5, granted: 2 });
    const rare = { ...report, top: 3, refused: 1, pauseMs: 1_000 };
    expect(await share.report(name, rare)).toMatchObject({ limit: 5, granted: 2 });
    expect(await share.report(name, rare)).toMatchObject({ limit: 5, granted: 2 });
    expect(await share.report(name, rare)).toMatchObject({ limit: 3, granted: 0 });
  });

  test('is asked for more ever later while it refuses each rise, which pauses no other question [engine-capacity]', async () => {
    const name = '{engine}:capacity:r';
    const report = { held: 4, running: 4, top: 4, waiting: 9, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const refused = { ...report, refused: 1, pauseMs: 1_000 };
    const { share, store } = startWorker();
    await share.report(name, refused);
    const waitsMs: unknown[] = [];
    for (let rise = 0; rise < 4; rise += 1) {
      await store.hset(name, { growAt: '0', pausedUntil: '1' });
      expect(await share.report(name, report)).toMatchObject({ limit: 5, granted: 1 });
      expect(await share.report(name, refused)).toMatchObject({ limit: 4, granted: 0 });
      const { growWait, pausedUntil } = await store.hgetall(name);
      waitsMs.push([growWait, pausedUntil]);
    }
    expect(waitsMs).toEqual([4_000, 5_000, 5_000, 5_000].map((waitMs) => [String(waitMs), '1']));
  });

  test('pauses no other question if several workers are refused what a larger rise granted [engine-capacity]', async () => {
    const name = '{engine}:capacity:s';
    const report = { held: 8, running: 8, top: 8, waiting: 9, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const refused = { ...report, refused: 1, pauseMs: 5_000 };
    const { share, store } = startWorker();
    await share.report(name, refused);
    await store.hset(name, { growAt: '0', pausedUntil: '1', rises: '2', step: '4' });
    expect(await share.report(name, report)).toMatchObject({ limit: 12, granted: 4 });
    await share.report(name, { ...refused, refused: 3 });
    await startWorker().share.report(name, { ...refused, held: 0, running: 0, top: 0, waiting: 0 });
    expect(await store.hgetall(name)).toMatchObject({ limit: '8', pausedUntil: '1' });
  });

  test('is paused by a series of refusals after a refused rise [engine-capacity]', async () => {
    const name = '{engine}:capacity:u';
    const report = { held: 8, running: 8, top: 8, waiting: 9, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const refused = { ...report, refused: 1, pauseMs: 5_000 };
    const { share, store } = startWorker();
    await share.report(name, refused);
    await store.hset(name, { growAt: '0', pausedUntil: '1', rises: '2', step: '4' });
    await share.report(name, report);
    await share.report(name, refused);
    const probedAt = Number(await store.hget(name, 'probedAt'));
    // Half a second later, within the moment of the refused rise, and again.
    await store.hset(name, 'probedAt', String(probedAt - 600));
    await share.report(name, { ...refused, held: 7, running: 7, top: 8 });
    expect(await store.hget(name, 'probedAt')).toBe(String(probedAt - 600));
    await store.hset(name, 'probedAt', String(probedAt - 1_200));
    await share.report(name, { ...refused, held: 6, running: 6, top: 7 });
    expect(Number(await store.hget(name, 'pausedUntil'))).toBeGreaterThan(1);
  });

  test('keeps its step and its limit at a rare refusal while it serves as many calls as allowed [engine-capacity]', async () => {
    const name = '{engine}:capacity:t';
    const report = { held: 8, running: 8, top: 8, waiting: 9, waitedMs: 0, passed: 0, refused: 0, pauseMs: 0 };
    const { share, store } = startWorker();
    await share.report(name, { ...report, refused: 1 });
    await store.hset(name, { growAt: '0', rises: '2', step: '4' });
    const served = { held: 12, running: 12, top: 12 };
    expect(await share.report(name, report)).toMatchObject({ limit: 12, granted: 4 });
    expect(await share.report(name, { ...report, ...served, passed: 12 })).toMatchObject({ limit: 12, granted: 0 });
    await share.report(name, { ...report, held: 11, running: 11, top: 12, refused: 1, pauseMs: 5_000 });
    expect(await store.hgetall(name)).toMatchObject({ limit: '12', step: '8', rises: '3' });
  });

  test('counts a report once if it is sent twice [repeatable-scripts]', async () => {
    const report = { seq: 7, held: 1, running: 3, top: 3, waiting: 0, waitedMs: 0, passed: 0, refused: 1, pauseMs: 0 };
    const send = (change = {}) =>
      shareScript.run(
        redis.redis,
        { engine: '{engine}:capacity:x' },
        { process: 'a', channel: 'none', ...report, ...change },
      );
    await send();
    const once = await redis.redis.hgetall('{engine}:capacity:x');
    await send();
    const { 'p:a': _lease, ...twice } = await redis.redis.hgetall('{engine}:capacity:x');
    expect(once).toMatchObject(twice);
    expect(await send({ seq: 8, refused: 0 })).toMatchObject({ limit: 3 });
  });
});

test.each([
  ['429', { status: 429, headers: {}, body: '' }],
  ['a bare 503', { status: 503, headers: {}, body: '' }],
])(
  'an engine full of long answers keeps the breaker closed while 13 more questions wait: %s [engine-capacity]',
  async (_name, refusal) => {
    Object.assign(engine, { limit: 60, answerMs: 3_500, refusal });
    // The accepted calls are outside the breaker's window, like answers of more than half a minute.
    const worker = startWorker({ breakerWindowMs: 1_000, breakerMinCalls: 10 });
    const first = times(60, () => ask(worker));
    await pause(2_000);
    const more = await Promise.all(times(13, () => ask(worker)));
    expect(more.map(({ text }) => text)).toEqual(times(13, () => 'ok'));
    // A wait of less than a second is not shown.
    expect(more.flatMap(({ told }) => told).filter((reason) => reason !== 'capacity')).toEqual([]);
    expect(await texts(first)).toEqual(times(60, () => 'ok'));
    expect(worker.breaker).toEqual([]);
  },
  60_000,
);

describe('an unavailable service', () => {
  test('is waited for, and all questions are answered once it is back [engine-capacity] [chat-service-away]', async () => {
    const { port } = new URL(engine.baseUrl);
    const worker = startWorker({ breakerProbeMs: 500 });
    await engine.stop();
    engine = new LimitedEngine(100);
    const asked = times(40, () => ask(worker));
    await pause(3_000);
    await engine.start(Number(port));
    const answers = await Promise.all(asked);
    expect(answers.map(({ text }) => text)).toEqual(times(40, () => 'ok'));
    expect(new Set(answers.flatMap(({ told }) => told))).toEqual(new Set(['reach']));
  }, 60_000);

  test('whose name does not resolve is waited for, and shown as unreachable [engine-capacity] [chat-service-away]', async () => {
    const { port } = new URL(engine.baseUrl);
    const lookUp = dns.lookup;
    let isAway = true;
    const resolve = (name: string, options: dns.LookupAllOptions, done: (...answer: unknown[]) => void) => {
      if (name !== 'engine.test') return lookUp(name, options, done);
      const failure = Object.assign(new Error('getaddrinfo EAI_AGAIN engine.test'), { code: 'EAI_AGAIN' });
      if (isAway) setImmediate(done, failure);
      else setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }]);
    };
    Object.assign(dns, { lookup: resolve });
    try {
      engine.limit = 100;
      const worker = startWorker({ breakerProbeMs: 300 }, `http://engine.test:${port}/v1`);
      const asked = times(40, () => ask(worker));
      await pause(2_000);
      isAway = false;
      const answers = await Promise.all(asked);
      expect(answers.map(({ text }) => text)).toEqual(times(40, () => 'ok'));
      expect(new Set(answers.flatMap(({ told }) => told))).toEqual(new Set(['reach']));
    } finally {
      Object.assign(dns, { lookup: lookUp });
    }
  }, 60_000);

  test.each([
    ['whose port is closed', 'http://127.0.0.1:9/v1'],
    ['whose name does not exist', 'http://parley.invalid/v1'],
  ])(
    '%s is reported as unreachable after two minutes, not as overloaded [engine-capacity]',
    async (_name, baseUrl) => {
      const worker = startWorker({ awayMs: 1_500, breakerProbeMs: 200 }, baseUrl);
      const answers = await texts(times(30, () => ask(worker)));
      for (const text of answers) expect(['chat_unreachable', 'chat_circuit_open']).toContain(text);
    },
    60_000,
  );

  test('that loads its model is polled with one call at a time [engine-capacity]', async () => {
    engine.limit = 0;
    engine.refusal = {
      status: 503,
      headers: {},
      body: '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
    };
    const worker = startWorker({ breakerProbeMs: 400 });
    const asked = times(20, () => ask(worker));
    await pause(2_000);
    expect(engine.arrivals.length).toBeLessThan(28);
    engine.limit = 100;
    const answers = await Promise.all(asked);
    expect(answers.map(({ text }) => text)).toEqual(times(20, () => 'ok'));
    expect(new Set(answers.flatMap(({ told }) => told))).toEqual(new Set(['loading']));
  }, 60_000);

  test('that refuses the key is not waited for [engine-capacity]', async () => {
    engine.limit = 0;
    engine.refusal = { status: 401, headers: {}, body: '' };
    const worker = startWorker();
    expect((await ask(worker)).text).toBe('chat_refused');
    const startedMs = performance.now();
    expect((await ask(worker)).text).toBe('chat_circuit_open');
    // Questions wait for a full engine for up to two minutes.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

test('a worker keeps half of its limit if file descriptors are missing while few calls run [engine-capacity]', async () => {
  const store = new Redis(redis.url);
  let nowMs = 0;
  const capacity = new EngineCapacity({
    ...{ monotonicMs: () => nowMs, random: () => 0, engine: 'engine', share: shareThroughRedis(store) },
    onLimitChanged: () => undefined,
  });
  const asked = new AbortController();
  let entered = 0;
  const enter = async () => {
    const permit = await capacity.enter({
      askedAtMs: nowMs,
      untilMs: nowMs + 60_000,
      signal: asked.signal,
      waits: () => undefined,
    });
    entered += 1;
    return permit;
  };
  try {
    const [starved, ...others] = await Promise.all(Array.from({ length: 20 }, enter));
    starved!.starved();
    for (const permit of others) permit.leave();
    nowMs += 1_000;
    for (const permit of await Promise.all([enter(), enter(), enter()])) permit.starved();
    entered = 0;
    for (let call = 0; call < 10; call += 1) enter().catch(() => undefined);
    await new Promise(setImmediate);
    expect(entered).toBe(7);
  } finally {
    asked.abort();
    capacity.close();
    store.disconnect();
  }
});

test('a person is notified that the model is loading while response headers are pending [engine-capacity]', async () => {
  engine.limit = 1;
  engine.answerMs = 0;
  const silent = createServer((request, response) => {
    request.resume();
    setTimeout(
      () =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`${chunk({ content: 'ok' }, 'stop')}data: [DONE]\n\n`),
      600,
    );
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  expect(await ask(startWorker({ loadingHintMs: 200 }, baseUrl))).toEqual({ text: 'ok', told: ['loading'] });
  expect(await ask(startWorker({ loadingHintMs: 5_000 }, baseUrl))).toEqual({ text: 'ok', told: [] });
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});
