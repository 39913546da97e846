import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { got } from 'got';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { healthRoutes, proofRoutes, type HealthPart } from '../../../src/bot/metrics/health.ts';
import { createReport } from '../../../src/bot/metrics/metrics.ts';
import {
  registerRedisMemory,
  registerRunningTurns,
  registerWaitingQuestions,
} from '../../../src/bot/metrics/gauges.ts';
import { listen, type ListeningServer } from '../../../src/shared/http/http-server.ts';
import { VERSION } from '../../../src/shared/version.ts';
import { recordingLog } from '../../support/redis.ts';
import { asDeliveryId } from '../../../src/bot/domain/ids.ts';

const TURN = asDeliveryId('TURN');
const open: ListeningServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(parts: HealthPart[], registry = new Registry()): Promise<string> {
  const koa = new Koa();
  const prove = (nonce: string) => `proof of ${nonce}`;
  koa.use(healthRoutes({ parts, registry, prove }).routes()).use(proofRoutes(prove).routes());
  const handler = koa.callback();
  const server = await listen((request, response) => void handler(request, response), 0, '127.0.0.1');
  open.push(server);
  return server.url;
}

const READY: HealthPart = { name: 'redis', isReady: () => Promise.resolve(true) };

test('GET /version and parley_build_info name the version of package.json', async () => {
  const registry = new Registry();
  createReport(registry, recordingLog().log);
  const url = await serve([READY], registry);
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const node = process.versions.node;
  expect(await got(`${url}/version`).json()).toEqual({ name: 'parley', version, node });
  expect(await got(`${url}/metrics`).text()).toContain(`parley_build_info{version="${version}",node="${node}"} 1`);
});

describe('health endpoints', () => {
  test('healthz answers 200 even if a part is not ready', async () => {
    const answer = await fetch(`${await serve([{ name: 'redis', isReady: () => Promise.resolve(false) }])}/healthz`);
    expect(answer.status).toBe(200);
  });

  test('readyz answers 200 if every part is ready', async () => {
    const ready = await fetch(`${await serve([READY])}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({ status: 'ready', parts: { redis: 'ready' } });
  });

  test('readyz names each part that is not ready, without the reason', async () => {
    const parts: HealthPart[] = [
      READY,
      { name: 'worker', isReady: () => Promise.resolve(false) },
      { name: 'chat', isReady: () => Promise.reject(new Error('password=abc')) },
      { name: 'frozen', isReady: () => new Promise(() => undefined) },
    ];
    const url = await serve(parts);
    const startedMs = performance.now();
    const answer = await fetch(`${url}/readyz`);
    // The frozen part gets 1 s; the rest allows for a busy machine.
    expect(performance.now() - startedMs).toBeLessThan(6_000);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'not ready',
      parts: { redis: 'ready', worker: 'not ready', chat: 'not ready', frozen: 'too slow' },
    });
  });
});

describe('metrics', () => {
  test('each report is counted, logged once, and exported as Prometheus text', async () => {
    const registry = new Registry();
    const { log, lines } = recordingLog();
    const report = createReport(registry, log);
    report.deliveryReceived({ platform: 'wecom', kind: 'message', outcome: 'accepted', durationMs: 4 });
    report.feedbackGiven({ platform: 'wecom', verdict: 'good', reasons: [], isDetail: false });
    report.welcomeSent({ platform: 'wecom' });
    report.turnEnded({ platform: 'wecom', turnId: TURN, outcome: 'answered', durationMs: 1_500, waitedMs: 20 });
    report.firstTextShown({ platform: 'wecom', deliveryId: TURN, afterMs: 700 });
    report.replyHandedOver({ platform: 'wecom', deliveryId: TURN, result: 'sent' });
    report.wakeRepeated({ count: 3 });
    report.turnFenced({ turnId: TURN });
    report.turnResumed({ turnId: TURN, crashes: 1 });
    report.deadLetter({ turnId: TURN, crashes: 5 });
    report.queueStalled();
    report.lockRenewalFailed({ jobs: 2 });
    report.newerVersionMet({ what: 'message' });
    report.runFailed({ error: new Error('code=abc123') });
    report.callEnded({
      model: 'svc-plus',
      outcome: 'complete',
      durationMs: 900,
      firstEventMs: 300,
      inputTokens: 40,
      outputTokens: 3,
    });
    report.retried({ model: 'svc-plus', code: 'chat_rate_limited', waitMs: 500 });
    report.breakerChanged({ model: 'svc-plus', state: 'open' });
    report.unknownFinishReason({ model: 'svc-plus' });
    report.event(
      'link-refused',
      { platform: 'wecom', reason: 'other-account' },
      { platform: 'wecom', tenant: 't', app: 'a', chatUserId: 'u' },
    );
    expect(lines).toHaveLength(18);
    expect(lines.join('')).not.toContain('abc123');

    const answer = await fetch(`${await serve([], registry)}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    const text = await answer.text();
    for (const line of [
      'parley_deliveries_total{platform="wecom",kind="message",outcome="accepted"} 1',
      'parley_delivery_duration_seconds_sum{platform="wecom",kind="message"} 0.004',
      'parley_turn_duration_seconds_sum{platform="wecom",outcome="answered"} 1.5',
      'parley_first_text_seconds_count{platform="wecom"} 1',
      'parley_wakes_repeated_total 3',
      'parley_lock_renewals_failed_total 2',
      'parley_chat_call_duration_seconds_count{model="svc-plus",outcome="complete"} 1',
      'parley_chat_tokens_total{model="svc-plus",kind="prompt"} 40',
      'parley_chat_tokens_total{model="svc-plus",kind="completion"} 3',
      'parley_chat_first_event_seconds_sum{model="svc-plus"} 0.3',
      'parley_sign_in_events_total{platform="wecom",event="link-refused",reason="other-account"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/nodejs_eventloop_lag_seconds/);
    expect(text).toMatch(/process_resident_memory_bytes/);
    expect(text).not.toContain(TURN);
  });

  test('every log line about a message carries its trace', () => {
    const { log, lines } = recordingLog();
    const report = createReport(new Registry(), log);
    const [platform, model, durationMs] = ['wecom', 'svc-plus', 3] as const;
    report.deliveryReceived({ platform, kind: 'message', outcome: 'accepted', deliveryId: TURN, durationMs });
    report.turnEnded({ platform, turnId: TURN, outcome: 'answered', durationMs, waitedMs: 20 });
    report.firstTextShown({ platform, deliveryId: TURN, afterMs: 700 });
    report.replyHandedOver({ platform, deliveryId: TURN, result: 'sent' });
    report.turnFenced({ turnId: TURN });
    report.turnResumed({ turnId: TURN, crashes: 1 });
    report.deadLetter({ turnId: TURN, crashes: 5 });
    report.callEnded({ model, trace: TURN, outcome: 'complete', durationMs });
    report.toolEnded({ turnId: TURN, tool: 'calculator', outcome: 'done', durationMs });
    report.accessRefused({ platform, turnId: TURN, person: 'p', because: 'person', rule: 'r' });
    report.answerKept({ platform, deliveryId: TURN });
    report.messagesBroken({ turnId: TURN, count: 1 });
    report.storedAnswerLost({ turnId: TURN });
    report.eventRecovered({ deliveryId: TURN });
    report.eventLost({ deliveryId: TURN });
    report.retried({ model, trace: TURN, code: 'chat_overloaded', waitMs: 5 });
    report.fellBack({ model, trace: TURN, fallback: 'svc-max', code: 'chat_overloaded' });
    report.unknownFinishReason({ model, trace: TURN });
    expect(lines).toHaveLength(18);
    expect(lines.filter((line) => (JSON.parse(line) as { trace?: string }).trace !== TURN)).toEqual([]);
  });

  test('documents that could not be read are counted and logged apart from files of other types', async () => {
    const { log, lines } = recordingLog();
    const registry = new Registry();
    const report = createReport(registry, log);
    const reasons = [
      { reason: 'unknown_kind', count: 7, first: 'a.zip' },
      { reason: 'broken', count: 2, first: 'b.pdf' },
      { reason: 'too_large', count: 1, first: 'c.pdf' },
    ];
    report.documentsLeftOut({ source: 'folder', reasons });
    report.documentsLeftOut({ source: 'other', reasons: reasons.slice(0, 1) });
    report.indexed({ documents: 4, passages: 9, textBytes: 800, memoryBytes: 5_000 });
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ level, reason }) => [level, reason])).toEqual([
      ['info', 'unknown_kind'],
      ['warn', 'broken'],
      ['warn', 'too_large'],
      ['info', 'unknown_kind'],
      ['info', undefined],
    ]);
    expect(told.at(-1)).toMatchObject({ documents: 4, unread: 3, others: 14 });
    const metrics = await registry.metrics();
    expect(metrics).toContain('parley_knowledge_unread_documents 3');
    expect(metrics).toContain('parley_knowledge_left_out_documents 14');
  });

  test('the name of every Parley metric ends in its unit', async () => {
    const registry = new Registry();
    createReport(registry, recordingLog().log);
    registerWaitingQuestions(registry, () => Promise.resolve({ waiting: 3, longestMs: 1_500 }));
    registerRedisMemory(registry, () => Promise.resolve({ usedBytes: 5, maxBytes: 9 }));
    registerRunningTurns(registry, () => 1);
    const ours = (await registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('parley_'));
    expect(ours.length).toBeGreaterThan(15);
    expect(
      ours.filter(
        (name) =>
          !/_(seconds|bytes|records|partitions|connections|documents|questions|turns|pauses|breakers|total|info)$/.test(
            name,
          ),
      ),
    ).toEqual([]);
  });
});

test.each([
  ['their number and the longest wait', { waiting: 3, longestMs: 1_500 }, [3, 1.5]],
  ['no value while Redis cannot be reached', undefined, []],
])('the gauges of waiting questions show %s', async (_what, counted, expected) => {
  const registry = new Registry();
  registerWaitingQuestions(registry, () => Promise.resolve(counted));
  const metrics = await registry.getMetricsAsJSON();
  expect(metrics.flatMap(({ values }) => values.map(({ value }) => value))).toEqual(expected);
});

test.each([
  ['the memory in use and its limit', () => Promise.resolve({ usedBytes: 5, maxBytes: 9 }), [5, 9]],
  ['no value while Redis fails', () => Promise.reject(new Error('away')), []],
  ['no value while Redis does not answer', () => new Promise<never>(() => undefined), []],
])("the gauges of Redis' memory show %s", async (_what, read, expected) => {
  const registry = new Registry();
  let reads = 0;
  registerRedisMemory(registry, () => {
    reads += 1;
    return read();
  });
  const metrics = await registry.getMetricsAsJSON();
  expect(metrics.flatMap(({ values }) => values.map(({ value }) => value))).toEqual(expected);
  expect(reads).toBe(1);
});

test('an open circuit breaker is shown until it closes', async () => {
  const registry = new Registry();
  const report = createReport(registry, recordingLog().log);
  for (const state of ['open', 'half-open'] as const) {
    report.breakerChanged({ model: 'svc-plus', state });
    expect(await registry.metrics()).toContain('parley_chat_open_breakers{model="svc-plus"} 1');
  }
  report.breakerChanged({ model: 'svc-plus', state: 'closed' });
  expect(await registry.metrics()).toContain('parley_chat_open_breakers{model="svc-plus"} 0');
});

test('healthz returns an identity proof for a valid nonce only', async () => {
  const url = await serve([]);
  const ask = async (query: string) => JSON.parse((await got(`${url}/healthz${query}`)).body) as object;
  expect(await ask('?nonce=0123456789abcdef')).toEqual({
    ...{ status: 'alive', version: VERSION },
    proof: 'proof of 0123456789abcdef',
  });
  for (const query of [
    '',
    '?nonce=short',
    `?nonce=${'x'.repeat(65)}`,
    '?nonce=0123456789abcde!',
    '?nonce[]=0123456789abcdef',
  ])
    expect(await ask(query)).toEqual({ status: 'alive', version: VERSION });
});

test('the identity webhook returns a proof for a valid nonce, and 404 otherwise', async () => {
  const url = `${await serve([])}/webhooks/whose`;
  expect(await got(`${url}?nonce=0123456789abcdef`).json()).toEqual({ proof: 'proof of 0123456789abcdef' });
  for (const query of ['', '?nonce=short'])
    expect((await got(`${url}${query}`, { throwHttpErrors: false })).statusCode).toBe(404);
});
