import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChatError, type ChatErrorCode } from '../../../src/bot/model/chat-error.ts';
import { DEFAULT_CHAT_LIMITS } from '../../../src/bot/model/chat-limits.ts';
import { CircuitBreaker } from '../../../src/bot/model/circuit-breaker.ts';
import { startChatFixture, type ChatFixture } from './chat-fixture.ts';
import { chunk, cutAfter, helloStream, stallAfter, statusOf } from './scripted-chat-server.ts';

const failure = (code: ChatErrorCode): ChatError => new ChatError(code, 'm');

describe('the breaker', () => {
  let nowMs: number;
  let states: string[];
  let breaker: CircuitBreaker;
  beforeEach(() => {
    nowMs = 1_000_000;
    states = [];
    breaker = new CircuitBreaker({
      monotonicMs: () => nowMs,
      limits: DEFAULT_CHAT_LIMITS,
      onChange: (state) => void states.push(state),
    });
  });
  const fail = (times: number, code: ChatErrorCode = 'chat_server_error'): void => {
    for (let count = 0; count < times; count += 1) breaker.enter().failed(failure(code));
  };
  const succeed = (times: number): void => {
    for (let count = 0; count < times; count += 1) breaker.enter().succeeded();
  };

  test('opens at 50 % failures of 20 calls, not before', () => {
    succeed(10);
    fail(9);
    expect(states).toEqual([]);
    fail(1);
    expect(states).toEqual(['open']);
    expect(() => breaker.enter()).toThrow(expect.objectContaining({ code: 'chat_circuit_open', retryAfterMs: 1_000 }));
  });

  test('stays closed below 50 % failures', () => {
    succeed(11);
    fail(10);
    expect(states).toEqual([]);
  });

  test('forgets calls older than its window', () => {
    fail(19);
    nowMs += 31_000;
    fail(1);
    expect(states).toEqual([]);
  });

  test('opens at once if the key is refused', () => {
    fail(1, 'chat_refused');
    expect(states).toEqual(['open']);
  });

  test('does not count bad requests, cancelled calls or our own caps as failures', () => {
    for (const code of [
      'chat_bad_request',
      'chat_unknown_model',
      'chat_too_large',
      'chat_cancelled',
      'chat_answer_too_large',
    ] as const)
      fail(20, code);
    expect(states).toEqual([]);
  });

  test('lets one probe through after its rest, and closes if the probe succeeds', () => {
    fail(20);
    nowMs += 999;
    expect(() => breaker.enter()).toThrow(ChatError);
    nowMs += 1;
    const probe = breaker.enter();
    expect(() => breaker.enter()).toThrow(ChatError);
    probe.succeeded();
    expect(states).toEqual(['open', 'half-open', 'closed']);
    fail(19);
    expect(states).toHaveLength(3);
  });

  test.each<[ChatErrorCode, number[]]>([
    ['chat_unreachable', [1, 2, 4, 8, 10, 10]],
    ['chat_loading', [1, 2, 4, 8, 10, 10]],
    ['chat_refused', [10, 10]],
    ['chat_quota_spent', [10, 10]],
  ])(
    'waits before each probe while calls fail with %s: %j s, and starts over after a recovery [circuit-breaker]',
    (code, delaysSec) => {
      for (let outage = 0; outage < 2; outage += 1) {
        fail(1, code);
        if (states.at(-1) !== 'open') fail(19, code);
        for (const delaySec of delaysSec) {
          nowMs += delaySec * 1_000 - 1;
          expect(() => breaker.enter()).toThrow(ChatError);
          nowMs += 1;
          breaker.enter().failed(failure(code));
        }
        nowMs += 10_000;
        breaker.enter().succeeded();
      }
    },
  );

  test('probes again at once if the probe was cancelled', () => {
    fail(20);
    nowMs += 1_000;
    breaker.enter().failed(failure('chat_timeout'));
    expect(() => breaker.enter()).toThrow(ChatError);
    nowMs += 2_000;
    breaker.enter().failed(failure('chat_cancelled'));
    breaker.enter().succeeded();
    expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'open', 'half-open', 'closed']);
  });

  test('ignores the late outcome of calls from before it opened', () => {
    const late = breaker.enter();
    const later = breaker.enter();
    fail(20);
    late.failed(failure('chat_refused'));
    nowMs += 10_000;
    const probe = breaker.enter();
    later.failed(failure('chat_server_error'));
    probe.succeeded();
    expect(states).toEqual(['open', 'half-open', 'closed']);
  });
});

describe('the client with an open breaker', () => {
  let fixture: ChatFixture;
  beforeEach(async () => {
    fixture = await startChatFixture({ idleMs: 300 });
  });
  afterEach(() => fixture.stop());

  test('fails at once for that model, asks other models, and recovers after the rest', async () => {
    fixture.server.script(statusOf(401));
    expect((await fixture.ask()).error?.code).toBe('chat_refused');
    fixture.server.script(helloStream());
    expect((await fixture.ask()).error?.code).toBe('chat_circuit_open');
    expect((await fixture.ask({ model: 'svc-max' })).end).toBe('stop');
    expect(fixture.server.calls).toHaveLength(2);
    fixture.clock.nowMs += 10_000;
    expect((await fixture.ask()).end).toBe('stop');
    expect(fixture.breaker).toEqual(['open', 'half-open', 'closed']);
    expect(fixture.lines.some((line) => line.includes('refused our key'))).toBe(true);
  });

  test('calls a dead service at most 10 % more often than it is asked [chat-service-fails]', async () => {
    fixture.server.script(statusOf(503));
    for (let message = 0; message < 60; message += 1) await fixture.ask();
    expect(fixture.server.calls.length).toBeLessThanOrEqual(60 * 1.1);
    expect(fixture.breaker).toEqual(['open']);
  });

  test('counts answers that begin and then break off', async () => {
    fixture.server.script(cutAfter(Buffer.from(chunk({ content: 'a' }))));
    for (let message = 0; message < 20; message += 1) {
      expect(fixture.breaker).toEqual([]);
      expect((await fixture.ask()).end).toBe('truncated');
    }
    expect(fixture.breaker).toEqual(['open']);
  });

  test('counts answers that begin and then stall', async () => {
    fixture.server.script(stallAfter(chunk({ content: 'a' })));
    await Promise.all(Array.from({ length: 20 }, () => fixture.ask()));
    expect(fixture.breaker).toEqual(['open']);
  });
});
