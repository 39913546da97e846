import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { messageKey } from '../../src/base/partition-keys.ts';
import { conversationOf } from '../../src/platforms/conversation-key.ts';
import type { InboundMessage } from '../../src/platforms/platform.ts';
import { createSlack } from '../../src/platforms/slack/index.ts';
import { formatTarget } from '../../src/platforms/slack/reply-target.ts';
import { Inbox } from '../../src/queue/accept.ts';
import { TurnStore } from '../../src/queue/turn-store.ts';
import { createLiveReply, type LiveReply } from '../../src/reply/live-reply.ts';
import { startFakeSlack, type FakeSlack, type SlackFault } from '../support/fake-slack.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';

const TOKEN = 'xoxb-test-0123456789';
const keyRing = testKeyRing();
const { log } = recordingLog();
let server: TestRedis;
let store: TurnStore;
let slack: FakeSlack;
let clockMs = 1_800_000_000_000;
const nowMs = () => clockMs;

beforeAll(async () => {
  server = await startTestRedis();
  store = new TurnStore({ redis: server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.redis.flushall();
  slack = await startFakeSlack(TOKEN);
});
afterEach(() => slack.close());

interface Worker {
  live: LiveReply;
  stored: string[];
  isFenced(): boolean;
  abort: AbortController;
  commit(records: Awaited<ReturnType<LiveReply['finish']>>): Promise<unknown>;
}

const CHANNEL = 'C1';
const QUESTION_TS = '1760000000.000100';
let asked = 0;

/** A message that waits, and what a worker that takes it needs. */
async function ask(mode: 'stream' | 'edit' = 'stream', place: Partial<InboundMessage> = {}) {
  asked += 1;
  const target = {
    channel: CHANNEL,
    ts: QUESTION_TS,
    threadTs: QUESTION_TS,
    userId: 'U1',
    teamId: 'T1',
    isPrivate: false,
  };
  const platform = createSlack({
    signingSecret: 'secret-secret',
    botToken: TOKEN,
    apiUrl: slack.apiUrl,
    reply: mode,
    webhookWindowSec: 300,
    nowMs,
  });
  const quick = { ...platform, replyTraits: { ...platform.replyTraits, minEditGapMs: 0, lookUpAfterMs: 20 } };
  const message = textMessage('question', {
    platform: 'slack',
    tenant: 'slack',
    app: 'bot',
    messageId: `${CHANNEL}:${asked}`,
    chat: { kind: 'group', id: CHANNEL },
    replyTarget: formatTarget(target),
    ...place,
  });
  const conversation = conversationOf(message, 'member');
  const { deliveryId } = await new Inbox({ redis: server.redis, keyRing, nowMs }).accept(conversation, message);
  const take = async (): Promise<Worker> => {
    const claim = await store.begin(conversation);
    if (!claim) throw new Error('nothing waits');
    const abort = new AbortController();
    const stored: string[] = [];
    const live = createLiveReply({
      redis: server.redis,
      keyRing,
      platform: quick,
      nowMs,
      log,
      report: { firstTextShown: () => undefined, replyHandedOver: () => undefined },
      conversation,
      epoch: claim.epoch,
      deliveryId,
      mergedIds: [],
      startedAtMs: claim.startedAtMs,
      wasHandedOver: false,
      laterReplyHandle: undefined,
      replyTarget: message.replyTarget,
      language: 'en',
      signal: abort.signal,
      fenced: () => abort.abort('fenced'),
      stopped: () => abort.abort('stopped'),
      storeAnswer: async (text) => {
        stored.push(text);
        return store.storeAnswer(claim, text);
      },
    });
    return {
      live,
      stored,
      abort,
      isFenced: () => abort.signal.reason === 'fenced',
      commit: (records) => store.commit(claim, { outcome: 'final', records }),
    };
  };
  const record = () => server.redis.hgetall(messageKey(conversation.partition, deliveryId));
  return { take, record, platform: quick };
}

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400 && !check(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  if (!check()) throw new Error('it did not come');
}

function fault(method: string, ...faults: SlackFault[]): void {
  slack.faults.set(method, faults);
}

const texts = () => slack.messages.map(({ text }) => text);

describe.each(['stream', 'edit'] as const)('an answer that is pushed by %s', (mode) => {
  test('grows in one message and ends as the whole text', async () => {
    const { take, record } = await ask(mode);
    const { live, stored, commit } = await take();
    live.show({ text: 'Hello' });
    await until(() => texts().includes('Hello'));
    live.show({ text: 'Hello, wor' });
    await until(() => texts().includes('Hello, wor'));
    const records = await live.finish('Hello, world.');
    await commit(records);
    expect(texts()).toEqual(['Hello, world.']);
    expect(slack.messages[0]).toMatchObject({ isStreaming: false, threadTs: QUESTION_TS });
    expect(stored).toEqual(['Hello, world.']);
    expect(await record()).toMatchObject({ state: 'final', finished: '1', delivery: 'live' });
    const methods = slack.calls.map(({ method }) => method);
    expect(methods).toEqual(
      mode === 'stream'
        ? ['chat.startStream', 'chat.appendStream', 'chat.stopStream']
        : ['chat.postMessage', 'chat.update', 'chat.update'],
    );
  });

  test('security.md 4.3: a worker whose epoch is over posts nothing, edits nothing, and learns it', async () => {
    const { take } = await ask(mode);
    const frozen = await take();
    frozen.live.show({ text: 'first sampling' });
    await until(() => texts().length === 1);
    const next = await take();
    const callsBefore = slack.calls.length;
    frozen.live.show({ text: 'first sampling goes on' });
    await until(() => frozen.isFenced());
    expect(await frozen.live.finish('first sampling, whole')).toEqual([]);
    expect(slack.calls.length).toBe(callsBefore);
    await next.live.finish('second sampling');
    expect(texts()).toEqual(['second sampling']);
  });

  test('security.md 4.7: a new worker goes on in the same message and never joins two samplings', async () => {
    const { take } = await ask(mode);
    const dead = await take();
    dead.live.show({ text: 'One way to say it' });
    await until(() => texts().length === 1);
    const next = await take();
    next.live.show({ text: 'An' });
    await until(() => texts()[0] === 'An');
    next.live.show({ text: 'Another way' });
    await next.live.finish('Another way to say it');
    expect(texts()).toEqual(['Another way to say it']);
    expect(slack.messages[0]?.looks.every((look) => !look.includes('One') || !look.includes('Another'))).toBe(true);
  });

  test.each(['before', 'after'] as const)(
    'security.md 4.5: a first post whose answer is cut %s it happened gives one visible message',
    async (when) => {
      const { take } = await ask(mode);
      fault(mode === 'stream' ? 'chat.startStream' : 'chat.postMessage', { kind: 'cut', when });
      const { live } = await take();
      live.show({ text: 'Hello' });
      await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
    },
    15_000,
  );

  test.each(['before', 'after'] as const)(
    'security.md 4.5: a worker that dies with its first post under way (%s it happened) is followed in one message',
    async (when) => {
      const { take } = await ask(mode);
      fault(mode === 'stream' ? 'chat.startStream' : 'chat.postMessage', { kind: 'cut', when });
      const dead = await take();
      dead.live.show({ text: 'Hello' });
      await until(() => slack.calls.length === 1);
      const next = await take();
      await next.live.finish('The whole answer.');
      await dead.live.close();
      expect(texts()).toEqual(['The whole answer.']);
    },
    15_000,
  );

  test.each([
    ['busy', { kind: 'busy', retryAfterSec: 1 }],
    ['a 503', { kind: 'status', status: 503 }],
    ['HTML', { kind: 'html' }],
    ['a rate limit inside 200', { kind: 'error', error: 'ratelimited' }],
    ['internal_error', { kind: 'error', error: 'internal_error' }],
    ['a cut after it happened', { kind: 'cut', when: 'after' }],
  ] as [string, SlackFault][])(
    'security.md 4.6: the final text arrives although its edit meets %s',
    async (_what, met) => {
      const { take } = await ask(mode);
      const { live } = await take();
      live.show({ text: 'Hello' });
      await until(() => texts().length === 1);
      fault(mode === 'stream' ? 'chat.stopStream' : 'chat.update', met);
      const records = await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
      expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'live']));
    },
    20_000,
  );

  test('a refusal for good is not repeated, and the ledger says so', async () => {
    const { take } = await ask(mode);
    const refused: SlackFault = { kind: 'error', error: 'not_in_channel' };
    fault('chat.startStream', refused);
    fault('chat.postMessage', refused);
    const { live } = await take();
    live.show({ text: 'Hello' });
    await until(() => slack.calls.length === 1);
    const records = await live.finish('Hello, world.');
    expect(records[0]?.fields).toEqual(expect.arrayContaining(['delivery', 'refused']));
    expect(slack.calls.length).toBe(1);
  });

  test('a long answer spans messages, each found again', async () => {
    const { take, platform } = await ask(mode);
    const { live } = await take();
    const text = 'A sentence of words.\n\n'.repeat(1_200);
    live.show({ text: text.slice(0, 500) });
    await until(() => texts().length === 1);
    await live.finish(text);
    expect(slack.messages.length).toBe(platform.splitReply(text).length);
    expect(texts().join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    const keys = slack.messages.map(({ metadata }) => metadata?.event_payload?.key);
    expect(new Set(keys).size).toBe(slack.messages.length);
  });

  test('an invitation stays open and grows into the answer later, in the same message', async () => {
    const { take } = await ask(mode);
    const first = await take();
    await first.live.leaveOpen('Please sign in: https://parley.test/link/x');
    const next = await take();
    next.live.show({ text: 'The' });
    await next.live.finish('The answer');
    expect(texts()).toEqual(['The answer']);
  });

  test('random cuts, pauses and take-overs: one message, the last text, no look of two samplings', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('grow', 'die', 'cut-before', 'cut-after', 'busy'), { minLength: 1, maxLength: 8 }),
        async (steps) => {
          slack.messages.length = 0;
          const { take } = await ask(mode);
          let worker = await take();
          let sampling = 'a';
          let text = '';
          for (const step of steps) {
            if (step === 'die') {
              const died = worker;
              worker = await take();
              await died.live.close();
              sampling = String.fromCharCode(sampling.charCodeAt(0) + 1);
              text = '';
            } else if (step !== 'grow') {
              const met: SlackFault =
                step === 'busy'
                  ? { kind: 'busy', retryAfterSec: 0 }
                  : { kind: 'cut', when: step === 'cut-before' ? 'before' : 'after' };
              for (const method of ['chat.startStream', 'chat.appendStream', 'chat.postMessage', 'chat.update'])
                fault(method, met);
            }
            text += sampling.repeat(3);
            worker.live.show({ text });
            await new Promise((resolve) => setTimeout(resolve, 3));
          }
          await worker.live.finish(text);
          expect(texts()).toEqual([text]);
          for (const look of slack.messages[0]?.looks ?? []) expect(new Set(look).size).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 12 },
    );
  }, 120_000);
});

describe('a native stream', () => {
  test('is edited from its 240th second on, since Slack ends it after five minutes', async () => {
    const { take } = await ask('stream');
    const { live } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    clockMs += 4 * MINUTE_MS;
    live.show({ text: 'Early and late' });
    await until(() => texts()[0] === 'Early and late');
    await live.finish('Early and late, whole');
    expect(texts()).toEqual(['Early and late, whole']);
    expect(slack.calls.map(({ method }) => method)).toEqual([
      'chat.startStream',
      'chat.stopStream',
      'chat.update',
      'chat.update',
    ]);
  });

  test('that died early is edited', async () => {
    const { take } = await ask('stream');
    const { live } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    slack.endStreams();
    live.show({ text: 'Early and late' });
    await live.finish('Early and late, whole');
    expect(texts()).toEqual(['Early and late, whole']);
  });

  test('that the person stopped ends the turn as stopped, and keeps its text', async () => {
    const { take } = await ask('stream');
    const { live, abort } = await take();
    live.show({ text: 'Early' });
    await until(() => texts().length === 1);
    fault('chat.appendStream', { kind: 'error', error: 'stopped_by_user' });
    live.show({ text: 'Early and' });
    await until(() => abort.signal.reason === 'stopped');
    slack.endStreams();
    await live.finish('Early and');
    expect(texts()).toEqual(['Early and']);
  });

  test.each(['channel_type_not_supported', 'unknown_method', 'missing_recipient_team_id'])(
    'that Slack does not offer (%s) is a message with edits',
    async (error) => {
      const { take } = await ask('stream');
      fault('chat.startStream', { kind: 'error', error });
      const { live } = await take();
      live.show({ text: 'Hello' });
      await live.finish('Hello, world.');
      expect(texts()).toEqual(['Hello, world.']);
      expect(slack.calls.map(({ method }) => method)).toContain('chat.postMessage');
    },
  );
});
