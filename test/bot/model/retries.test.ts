import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { ChatError } from '../../../src/bot/model/chat-error.ts';
import { DEFAULT_CHAT_LIMITS } from '../../../src/bot/model/chat-limits.ts';
import { mapHttpStatus } from '../../../src/bot/model/map-http-status.ts';
import { readRetryAfter, retryAfterIn } from '../../../src/shared/models/retry-after.ts';
import { RetryPolicy } from '../../../src/bot/model/retry-policy.ts';
import { startChatFixture, type ChatFixture } from './chat-fixture.ts';
import { chunk, cutAfter, helloStream, jsonOf, sse, statusOf, streamOf } from './scripted-chat-server.ts';

let fixture: ChatFixture;
beforeEach(async () => {
  fixture = await startChatFixture();
});
afterEach(() => fixture.stop());

/** The rows of SECURITY.md bounded-retries. */
const ROWS: [status: number, code: string, calls: number][] = [
  [400, 'chat_bad_request', 1],
  [401, 'chat_refused', 1],
  [403, 'chat_refused', 1],
  [404, 'chat_unknown_model', 1],
  [408, 'chat_timeout', 3],
  [409, 'chat_server_error', 3],
  [413, 'chat_too_large', 1],
  [422, 'chat_bad_request', 1],
  [425, 'chat_server_error', 3],
  [429, 'chat_rate_limited', 3],
  [500, 'chat_server_error', 3],
  [501, 'chat_server_error', 1],
  [502, 'chat_server_error', 3],
  [503, 'chat_server_error', 3],
  [504, 'chat_server_error', 3],
  [529, 'chat_rate_limited', 3],
];

describe('a status', () => {
  test.each(ROWS)('of %i is %s after %i call(s)', async (status, code, calls) => {
    fixture.server.script(jsonOf({ error: { message: 'm', code: null } }, status));
    expect(await fixture.ask()).toMatchObject({ events: [], error: { code, status } });
    expect(fixture.server.calls).toHaveLength(calls);
  });

  test('of a prompt beyond the model context is too large, not bad', async () => {
    fixture.server.script(jsonOf({ error: { message: 'm', code: 'context_length_exceeded' } }, 400));
    expect((await fixture.ask()).error?.code).toBe('chat_too_large');
  });

  test.each([
    [
      'a number as code',
      400,
      { object: 'error', message: "This model's maximum context length is 10 tokens", code: 400 },
      'chat_too_large',
    ],
    [
      'a field named in vain',
      400,
      { code: 'InvalidParameter', message: 'Range of input length should be [1, 9], user' },
      'chat_too_large',
    ],
    ['an empty balance', 402, { error: { message: 'Insufficient Balance' } }, 'chat_quota_spent'],
    ['content rules', 400, { error: { code: '1301', message: 'x' } }, 'chat_content_filter'],
  ])('with %s is classified by its body and sent once [engine-errors]', async (_name, status, body, code) => {
    fixture.server.script(jsonOf(body, status));
    expect((await fixture.ask()).error?.code).toBe(code);
    expect(fixture.server.calls).toHaveLength(1);
  });

  test('of 200 with an error in the body is an engine failure and retried [engine-errors]', async () => {
    fixture.server.script(
      jsonOf({ choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }),
      helloStream(),
    );
    expect((await fixture.ask()).end).toBe('stop');
    expect(fixture.retries).toMatchObject([{ code: 'chat_rate_limited' }]);
  });

  test('of 200 with an error as the only event is an engine failure and retried [engine-errors]', async () => {
    fixture.server.script(
      streamOf(sse({ choices: null, base_resp: { status_code: 1002 } }), sse('[DONE]')),
      helloStream(),
    );
    expect((await fixture.ask()).end).toBe('stop');
    expect(fixture.retries).toMatchObject([{ code: 'chat_rate_limited' }]);
  });
});

describe('a retry', () => {
  test('returns the answer after failures, and is reported', async () => {
    fixture.server.script(statusOf(503), cutAfter(Buffer.from(': hi\n\n')), helloStream('there'));
    expect(await fixture.ask()).toMatchObject({ text: 'there', end: 'stop' });
    expect(fixture.retries).toEqual([
      { model: 'svc-plus', code: 'chat_server_error', status: 503, waitMs: 1 },
      { model: 'svc-plus', code: 'chat_truncated', waitMs: 2 },
    ]);
    expect(fixture.ended.map(({ outcome }) => outcome)).toEqual(['chat_server_error', 'chat_truncated', 'complete']);
  });

  test('never happens once text has been received [no-second-beginning]', async () => {
    for (const delta of [{ content: 'some' }, { reasoning_content: 'hm' }]) {
      fixture.server.script(cutAfter(Buffer.from(chunk(delta))));
      expect((await fixture.ask()).end).toBe('truncated');
    }
    expect(fixture.server.calls).toHaveLength(2);
  });

  test('never happens after an error within an answer, however short [no-second-beginning]', async () => {
    fixture.server.script(streamOf(chunk({ content: 'some' }), sse({ error: { message: 'm', code: 503 } })));
    expect(await fixture.ask()).toMatchObject({ text: 'some', error: { code: 'chat_server_error', status: 503 } });
    expect(fixture.server.calls).toHaveLength(1);
  });

  test('is made only once its caller may call, and never after the caller was cancelled', async () => {
    fixture.server.script(statusOf(503));
    const cancelling = new AbortController();
    const readyings = [undefined, Promise.resolve(), undefined];
    const beforeCall = () => {
      if (readyings.length > 0) return readyings.shift();
      return pause(20).then(() => cancelling.abort());
    };
    const { error } = await fixture.ask({ beforeCall }, cancelling.signal);
    expect([error?.code, fixture.server.calls.length]).toEqual(['chat_cancelled', 2]);
    expect(fixture.ended).toHaveLength(2);
  });

  test('waits for the Retry-After of the service if it is short', async () => {
    fixture.server.script(statusOf(429, { 'retry-after': '0.2' }), helloStream());
    const startedMs = performance.now();
    expect((await fixture.ask()).end).toBe('stop');
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(195);
  });

  test('is left to the caller if Retry-After is too long', async () => {
    fixture.server.script(statusOf(429, { 'retry-after': '31' }));
    expect((await fixture.ask()).error).toMatchObject({ code: 'chat_rate_limited', retryAfterMs: 31_000 });
    expect(fixture.server.calls).toHaveLength(1);
  });

  test('does not begin after the total time', async () => {
    await fixture.stop();
    fixture = await startChatFixture({ totalMs: 5_000 });
    fixture.server.script(statusOf(503, { 'retry-after': '6' }));
    expect((await fixture.ask()).error?.code).toBe('chat_server_error');
    expect(fixture.server.calls).toHaveLength(1);
  });
});

describe('the pause before a retry', () => {
  test.each([
    ['3', 3_000],
    ['0', 0],
    ['1.5', 1_500],
    ['30s', 30_000],
    ['500ms', 500],
    ['"5"', 5_000],
    ['10, 10', 10_000],
    ['2020-01-01T00:00:10Z', 10_000],
    ['1577836810', 10_000],
    ['Wed, 01 Jan 2020 00:00:10 GMT', 10_000],
    ['Wed, 01 Jan 2020 00:00:00 GMT', 0],
    [`5${' '.repeat(16_000)}x`, undefined],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads Retry-After %j as %j ms', (header, expected) => {
    expect(readRetryAfter(header, () => Date.UTC(2020, 0, 1))).toBe(expected);
  });

  test('reads retry-after-ms before Retry-After', () => {
    expect(retryAfterIn({ 'retry-after': '1', 'retry-after-ms': '250' }, Date.now)).toBe(250);
    expect(retryAfterIn({ 'retry-after': '1', 'retry-after-ms': 'soon' }, Date.now)).toBe(1_000);
  });

  const failure = mapHttpStatus(503, {});
  const policyWith = (random: () => number, nowMs = () => 0) =>
    new RetryPolicy({ monotonicMs: nowMs, limits: DEFAULT_CHAT_LIMITS, random });

  test('is drawn uniformly from zero to a bound that doubles', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (x) => {
        const policy = policyWith(() => x);
        expect([1, 2, 3].map((tries) => policy.pauseBeforeRetry(failure, tries))).toEqual([
          Math.round(x * 500),
          Math.round(x * 1_000),
          undefined,
        ]);
      }),
    );
  });

  test('is never shorter than Retry-After, and does not exist for a refusal', () => {
    const policy = policyWith(() => 0.9);
    expect(policy.pauseBeforeRetry(mapHttpStatus(503, { retryAfterMs: 30_000 }), 1)).toBe(30_000);
    expect(policy.pauseBeforeRetry(mapHttpStatus(503, { retryAfterMs: 30_001 }), 1)).toBeUndefined();
    expect(policy.pauseBeforeRetry(new ChatError('chat_stalled', 'm'), 1)).toBeUndefined();
  });

  test('is granted for a tenth of the traffic, plus a small reserve that refills with time', () => {
    let nowMs = 0;
    const policy = policyWith(
      () => 0,
      () => nowMs,
    );
    const retriesOf = (calls: number): number => {
      let retries = 0;
      for (let call = 0; call < calls; call += 1) {
        policy.earn();
        if (policy.pauseBeforeRetry(failure, 1) !== undefined) retries += 1;
      }
      return retries;
    };
    const first = retriesOf(1_000);
    expect(first).toBeGreaterThanOrEqual(100);
    expect(first).toBeLessThanOrEqual(111);
    nowMs += 30_000;
    expect(retriesOf(1)).toBe(1);
  });
});
