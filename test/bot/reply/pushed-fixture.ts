import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import { conversationKeys, messageKey, RECONCILIATION_KEYS } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { Platform, PushReplies } from '../../../src/bot/platforms/platform.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import type { DeliveryId } from '../../../src/bot/domain/ids.ts';
import { createSlack } from '../../../src/bot/platforms/slack/index.ts';
import { formatTarget } from '../../../src/bot/platforms/slack/reply-target.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import { DeferredReconciliation } from '../../../src/bot/reply/deferred-reconciliation.ts';
import { createLiveReply } from '../../../src/bot/reply/create-live-reply.ts';
import type { LiveReply } from '../../../src/bot/reply/live-reply.ts';
import { startFakeSlack, type FakeSlack, type SlackFault } from '../../support/fake-slack.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const TOKEN = 'xoxb-test-0123456789';
const CHANNEL = 'C1';
export const QUESTION_TS = '1760000000.000100';
const keyRing = testKeyRing();
const { log } = recordingLog();
/** Answers that the platform refused completely, as the alarm reports them. */
export const notShown: string[] = [];

/** A worker that claimed a message, and its live reply. */
export interface PushingWorker {
  live: LiveReply;
  /** The texts that it stored as the full answer. */
  stored: string[];
  isFenced(): boolean;
  abort: AbortController;
  commit(records: Awaited<ReturnType<LiveReply['finish']>>): Promise<unknown>;
}

/** A message that waits for its answer in Slack. */
export interface AskedInSlack {
  /** Claims the message as another worker. */
  take(): Promise<PushingWorker>;
  record(): Promise<Record<string, string>>;
  state(): Promise<Record<string, string>>;
  platform: Platform;
  deliveryId: DeliveryId;
}

export interface AskOptions {
  /** Messages that are answered together with it. */
  mergedIds?: DeliveryId[];
  place?: Partial<InboundMessage>;
  minEditGapMs?: number;
  /**
   * How long the platform may still run an abandoned call, in milliseconds. Defaults to almost nothing beyond the time that
   * a post may take to leave.
   */
  settlesWithinMs?: number;
  /** Defaults to the value of the claim. */
  wasBegun?: boolean;
  /** Called before each call leaves. */
  onCall?(method: keyof PushReplies): Promise<void>;
  /** Called after each call is answered. */
  onAnswer?(method: keyof PushReplies): Promise<void>;
  /** Whether the lock on the turn is certainly held. Defaults to true. */
  isClaimHeld?: () => boolean;
  /** Called for each wait during which a crash does not count. */
  waitIdle?: (wait: () => Promise<void>) => Promise<void>;
}

/** A fake Slack and a Redis with everything needed to answer; both are new before each test. */
export interface PushedFixture {
  readonly slack: FakeSlack;
  readonly server: TestRedis;
  ask(mode?: 'stream' | 'edit', options?: AskOptions): Promise<AskedInSlack>;
  /** Sets the faults of the next calls of a method. */
  fault(method: string, ...faults: SlackFault[]): void;
  /** The texts of the visible messages. */
  texts(): string[];
  advance(ms: number): void;
  /** Makes the stored checks of answers due, and does them as another worker. @returns how many there were */
  reconcile(): Promise<number>;
}

export function usePushedFixture(): PushedFixture {
  let clockMs = 1_800_000_000_000;
  let asked = 0;
  let newest: Platform | undefined;
  const by = (platform: Platform) =>
    new DeferredReconciliation({
      redis: fixture.server.redis,
      keyRing,
      log,
      platforms: new Map([[platform.name, platform]]),
    });
  const nowMs = () => clockMs;
  const fixture = {
    ask,
    fault: (method, ...faults) => void fixture.slack.faults.set(method, faults),
    texts: () => fixture.slack.messages.map(({ text }) => text),
    advance: (ms) => void (clockMs += ms),
    reconcile: async () => {
      const { redis } = fixture.server;
      const ids = await redis.zrange(RECONCILIATION_KEYS.due, '0', '-1');
      for (const id of ids) await redis.zadd(RECONCILIATION_KEYS.due, '0', id);
      if (newest) await by(newest).runDue();
      expect(await redis.zcard(RECONCILIATION_KEYS.due)).toBe(0);
      return ids.length;
    },
  } as { -readonly [Name in keyof PushedFixture]: PushedFixture[Name] };

  beforeAll(async () => {
    fixture.server = await startTestRedis();
  });
  afterAll(() => fixture.server.stop());
  beforeEach(async () => {
    await fixture.server.redis.flushall();
    fixture.slack = await startFakeSlack(TOKEN);
  });
  afterEach(async () => {
    await fixture.slack.close();
  });

  async function ask(mode: 'stream' | 'edit' = 'stream', options: AskOptions = {}): Promise<AskedInSlack> {
    asked += 1;
    const { redis } = fixture.server;
    const store = new DyingWorkersStore({ redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
    const platform = quickSlack(fixture.slack.apiUrl, mode, nowMs, options);
    newest = platform;
    const message = messageInChannel(asked, options.place);
    const conversation = conversationOf(message, 'member');
    const { deliveryId } = await new Inbox({ redis, keyRing }).accept(conversation, message);
    const take = async (): Promise<PushingWorker> => {
      const claim = await store.begin(conversation);
      if (!claim) throw new Error('nothing waits');
      const abort = new AbortController();
      const stored: string[] = [];
      const live = createLiveReply({
        deps: {
          ...{ redis, keyRing, nowMs, log, reconciliation: by(platform) },
          report: {
            firstTextShown: () => undefined,
            answerKept: () => undefined,
            answerNotShown: () => void notShown.push(deliveryId),
            replyHandedOver: () => undefined,
          },
        },
        claim: { ...claim, wasHandedOver: false, wasBegun: options.wasBegun ?? claim.wasBegun },
        controls: {
          signal: abort.signal,
          fenced: () => abort.abort('fenced'),
          stopped: () => abort.abort('stopped'),
          storeAnswer: (text) => store.storeAnswer(claim, text),
          sealAnswer: (text) => {
            stored.push(text);
            return store.sealAnswer(claim, text);
          },
          isClaimHeld: options.isClaimHeld ?? (() => true),
          waitIdle: options.waitIdle ?? ((wait) => wait()),
        },
        platform,
        deliveryId,
        mergedIds: options.mergedIds ?? [],
        laterReplyHandle: undefined,
        replyTarget: message.replyTarget,
        language: 'en',
      });
      return {
        live,
        stored,
        abort,
        isFenced: () => abort.signal.reason === 'fenced',
        commit: (records) => store.commit(claim, { outcome: 'final', records }),
      };
    };
    return {
      take,
      record: () => redis.hgetall(messageKey(conversation.partition, deliveryId)),
      state: () => redis.hgetall(conversationKeys(conversation).state),
      platform,
      deliveryId,
    };
  }
  return fixture;
}

function messageInChannel(count: number, place: Partial<InboundMessage> = {}): InboundMessage {
  const target = {
    channel: CHANNEL,
    ts: QUESTION_TS,
    threadTs: QUESTION_TS,
    userId: 'U1',
    teamId: 'T1',
    isPrivate: false,
  };
  return textMessage('question', {
    platform: 'slack',
    tenant: 'slack',
    app: 'bot',
    messageId: `${CHANNEL}:${count}`,
    chat: { kind: 'group', id: CHANNEL },
    replyTarget: formatTarget(target),
    ...place,
  });
}

function quickSlack(
  apiUrl: string,
  mode: 'stream' | 'edit',
  nowMs: () => number,
  { minEditGapMs = 0, onCall, onAnswer, settlesWithinMs = -3_900 }: AskOptions,
): Platform {
  const platform = createSlack({
    signingSecret: 'secret-secret',
    botToken: TOKEN,
    apiUrl,
    reply: mode,
    webhookWindowSec: 300,
    nowMs,
  });
  const { push } = platform;
  const quick = {
    ...platform,
    replyTraits: {
      ...platform.replyTraits,
      minEditGapMs,
      lookUpAfterMs: 20,
      postSettlesWithinMs: settlesWithinMs,
      refusalsPassWithinMs: 60,
    },
  };
  if (!push || !(onCall ?? onAnswer)) return quick;
  const seen = async <T>(method: keyof PushReplies, call: () => Promise<T>): Promise<T> => {
    await onCall?.(method);
    const answer = await call();
    await onAnswer?.(method);
    return answer;
  };
  const watched: PushReplies = {
    ...push,
    open: (...args) => seen('open', () => push.open(...args)),
    update: (...args) => seen('update', () => push.update(...args)),
    find: (...args) => seen('find', () => push.find(...args)),
    remove: (...args) => seen('remove', () => push.remove(...args)),
  };
  return { ...quick, push: watched };
}

export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it did not come');
}
