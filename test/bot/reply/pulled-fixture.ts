import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { MINUTE_MS } from '../../../src/shared/clock.ts';
import type { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { messageKey } from '../../../src/bot/domain/partition-keys.ts';
import { conversationOf, personIdOf } from '../../../src/bot/domain/conversation.ts';
import type { Platform, PostResult } from '../../../src/bot/platforms/platform.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { createWecom } from '../../../src/bot/platforms/wecom/index.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import type { TurnClaim } from '../../../src/bot/domain/turn.ts';
import { asDeliveryId, type DeliveryId } from '../../../src/bot/domain/ids.ts';
import { DeferredReconciliation } from '../../../src/bot/reply/deferred-reconciliation.ts';
import { createLiveReply } from '../../../src/bot/reply/create-live-reply.ts';
import type { LiveReply } from '../../../src/bot/reply/live-reply.ts';
import { FollowUps } from '../../../src/bot/reply/follow-ups/follow-ups.ts';
import { readLiveReply } from '../../../src/bot/reply/read-live-reply.ts';
import { REPLY_TEXTS } from '../../../src/bot/i18n/reply-texts.ts';
import { agePrivateRates } from '../../support/age-private-rates.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

const keyRing = testKeyRing();
const otherRing = testKeyRing();
const { log } = recordingLog();

/** The answer of one turn, as its worker and WeCom see it. */
export interface PulledTurn {
  live: LiveReply;
  claim: TurnClaim;
  /** The turn's messages, oldest first. */
  messages: InboundMessage[];
  isFenced(): boolean;
  /** Polls a message. Defaults to the first message, polled by its sender. */
  poll(index?: number, userId?: string): ReturnType<typeof readLiveReply>;
  /** Indexes of the messages for which a poll has shown the whole answer, or where it is. */
  seenWhole: Set<number>;
  /** Polls at a receiver with another key. */
  pollElsewhere(): ReturnType<typeof readLiveReply>;
  /** Answers a repeated delivery of a message. */
  repeat(index: number): ReturnType<typeof readLiveReply>;
  /** Shows the last snapshot, commits, and sends the follow-ups. */
  finish(text: string, status?: string): Promise<void>;
  /** Like `finish`, by a worker that dies after the commit. */
  commitOnly(text: string): Promise<void>;
  /** Sends the due follow-ups, as any worker does. */
  bring(worker?: FollowUps): Promise<void>;
  keyOf(index: number): string;
  /** Advances the time, for the worker and for Redis. */
  pass(ms: number): Promise<void>;
}

/** A fake WeCom and a Redis with everything needed to answer; Redis is empty before each test. */
export interface PulledFixture {
  readonly server: TestRedis;
  readonly keyRing: KeyRing;
  readonly store: TurnStore;
  readonly platform: Platform;
  /** Texts sent by the response_url, and the results of the next attempts. Results default to `sent`. */
  readonly postedLater: string[];
  readonly laterResults: PostResult[];
  /**
   * Messages that the self-built app sent to a person, and the results of the next attempts. The app exists while `hasApp`
   * is true.
   */
  readonly writtenPrivately: { userId: string; text: string }[];
  readonly privateResults: PostResult[];
  hasApp: boolean;
  /** Replaces `privateResults` when it is set: a WeCom with its own app. */
  app: Platform | undefined;
  /** The routes that were tried, in order, with the time on the fixture's clock in milliseconds. */
  readonly tries: { way: 'handle' | 'private'; atMs: number }[];
  /** The reported results of follow-ups. */
  readonly reported: string[];
  /** A worker that sends follow-ups; its pauses pass at once. @param onTry called before each attempt */
  worker(onTry?: () => Promise<void>): FollowUps;
  /** The fixture's clock, which each pause of a worker advances, in milliseconds. */
  nowMs(): number;
  /** How far the worker's clock is ahead of Redis' clock, in milliseconds. */
  workerAheadMs: number;
  /** Begins a turn of messages that arrived `cameBeforeMs` milliseconds ago. Defaults to one message that arrived now. */
  open(cameBeforeMs?: number[]): Promise<PulledTurn>;
}

export function usePulledFixture(): PulledFixture {
  let passedMs = 0;
  const nowMs = () => Date.now() + passedMs + fixture.workerAheadMs;
  const lists = {
    postedLater: [],
    laterResults: [],
    writtenPrivately: [],
    privateResults: [],
    tries: [],
    reported: [],
  };
  const fixture = { ...lists, keyRing, nowMs, workerAheadMs: 0, hasApp: false, open, worker } as unknown as {
    -readonly [Name in keyof PulledFixture]: PulledFixture[Name];
  };
  const wecom = createWecom({
    bot: { token: 'token', aesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG', name: 'Parley' },
    ...{ webhookWindowSec: 300, nowMs, log },
    tokenStore: { read: async () => undefined, write: async () => undefined },
    privateRate: { tryAcquire: async () => true },
  });
  const platform: Platform = {
    ...wecom,
    replyLater: async (_handle, text) => {
      await onAnyTry('handle');
      fixture.postedLater.push(text);
      return fixture.laterResults.shift() ?? 'sent';
    },
    writePrivately: async (userId, text, partOf) => {
      await onAnyTry('private');
      fixture.writtenPrivately.push({ userId, text });
      if (fixture.app) return (await fixture.app.writePrivately?.(userId, text, partOf)) ?? 'refused';
      return fixture.privateResults.shift() ?? 'sent';
    },
  };
  const monotonicMs = () => performance.now() + passedMs;
  let onTryNow: (() => Promise<void>) | undefined;
  const onAnyTry = async (way: 'handle' | 'private') => {
    fixture.tries.push({ way, atMs: monotonicMs() });
    await onTryNow?.();
  };
  const report = {
    firstTextShown: () => undefined,
    answerKept: () => undefined,
    answerNotShown: () => undefined,
    replyHandedOver: ({ result }: { result: string }) => void fixture.reported.push(result),
  };

  function worker(onTry?: () => Promise<void>): FollowUps {
    onTryNow = onTry;
    const { writePrivately: _app, ...withoutApp } = platform;
    return new FollowUps({
      ...{ redis: fixture.server.redis, keyRing, log, report, monotonicMs },
      platforms: new Map([['wecom', fixture.hasApp ? platform : withoutApp]]),
      pause: async (pauseMs) => {
        passedMs += pauseMs;
        await agePrivateRates(fixture.server.redis, pauseMs);
      },
    });
  }

  fixture.platform = platform;
  beforeAll(async () => {
    fixture.server = await startTestRedis();
    fixture.store = new DyingWorkersStore({ redis: fixture.server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  });
  afterAll(() => fixture.server.stop());
  beforeEach(() => void (fixture.workerAheadMs = 0));
  beforeEach(begin);

  async function begin(): Promise<void> {
    await fixture.server.redis.flushall();
    for (const list of Object.values(lists)) list.splice(0);
    fixture.hasApp = false;
    fixture.app = undefined;
  }

  async function open(cameBeforeMs = [0]): Promise<PulledTurn> {
    await begin();
    const { redis } = fixture.server;
    const inbox = new Inbox({ redis, keyRing });
    const messages = cameBeforeMs.map((_, index) =>
      textMessage(`question ${index}`, { laterReplyHandle: 'https://example.test/later' }),
    );
    const [first] = messages;
    if (!first) throw new Error('no message');
    const conversation = conversationOf(first, 'member');
    const ids: DeliveryId[] = [];
    for (const message of messages) ids.push((await inbox.accept(conversation, message)).deliveryId);
    const keyOf = (index: number) => messageKey(conversation.partition, ids[index] ?? asDeliveryId(''));
    // Ages are measured by Redis' clock, which a test cannot move, so the stored timestamps are moved.
    const age = (index: number, byMs: number) => redis.hincrby(keyOf(index), 'atMs', -byMs);
    await Promise.all(cameBeforeMs.map((byMs, index) => age(index, byMs)));
    const claim = await fixture.store.begin(conversation);
    if (claim?.messages.length !== ids.length) throw new Error('not one turn');
    let isFenced = false;
    const live = createLiveReply({
      deps: {
        redis,
        keyRing,
        nowMs,
        monotonicMs,
        log,
        report,
        reconciliation: new DeferredReconciliation({ redis, keyRing, platforms: new Map(), log }),
      },
      claim,
      controls: {
        signal: AbortSignal.any([]),
        fenced: () => void (isFenced = true),
        stopped: () => undefined,
        storeAnswer: (text) => fixture.store.storeAnswer(claim, text),
        sealAnswer: (text) => fixture.store.sealAnswer(claim, text),
        isClaimHeld: () => true,
        waitIdle: (wait) => wait(),
      },
      ...{ platform, language: 'en' },
      deliveryId: ids.at(-1) ?? asDeliveryId(''),
      mergedIds: ids.slice(0, -1),
      laterReplyHandle: first.laterReplyHandle,
      replyTarget: undefined,
      asker: () => ({ userId: first.sender.userId, privateChat: conversation }),
    });
    const seenWhole = new Set<number>();
    const read = (index: number, userId: string, isRepeat: boolean, ring = keyRing) => {
      const { partition } = conversation;
      const polled = {
        partition,
        deliveryId: ids[index] ?? asDeliveryId(''),
        personId: personIdOf(first, userId),
        isRepeat,
      };
      const onSeen = (deliveryId: DeliveryId) => void seenWhole.add(ids.indexOf(deliveryId));
      return readLiveReply({ redis, keyRing: ring, platform, onSeen }, polled);
    };
    const bring = async (by = worker()) => {
      await by.deliverDue(conversation.partition);
      await by.settle();
    };
    return {
      ...{ live, claim, messages, keyOf, seenWhole, isFenced: () => isFenced },
      poll: (index = 0, userId = first.sender.userId) => read(index, userId, false),
      pollElsewhere: () => read(0, first.sender.userId, false, otherRing),
      repeat: (index) => read(index, first.sender.userId, true),
      async finish(text, status) {
        await fixture.store.commit(claim, { outcome: 'final', records: await live.finish(text, { status }) });
        await bring();
      },
      async commitOnly(text) {
        await fixture.store.commit(claim, { outcome: 'final', records: await live.finish(text) });
      },
      bring,
      async pass(ms) {
        passedMs += ms;
        await Promise.all(ids.map((_id, index) => age(index, ms)));
      },
    };
  }
  return fixture;
}

/** The words of several messages, without the bot's note that the answer continues. */
export function words(...texts: string[]): string[] {
  const said = texts.map((text) => text.replace(REPLY_TEXTS.goesOn.en, ''));
  return said
    .join(' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
