import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { MINUTE_MS } from '../../src/base/clock.ts';
import { messageKey } from '../../src/base/partition-keys.ts';
import { conversationOf, personIdOf } from '../../src/platforms/conversation-key.ts';
import type { InboundMessage, Platform, PostResult } from '../../src/platforms/platform.ts';
import { createWecom } from '../../src/platforms/wecom/index.ts';
import { Inbox } from '../../src/queue/accept.ts';
import type { TurnClaim, TurnStore } from '../../src/queue/turn-store.ts';
import { AfterCare } from '../../src/reply/after-care.ts';
import { createLiveReply, type LiveReply } from '../../src/reply/live-reply.ts';
import { readLiveReply } from '../../src/reply/read-live-reply.ts';
import { testKeyRing, textMessage } from '../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../support/redis.ts';
import { DyingWorkersStore } from '../support/dying-workers.ts';

const keyRing = testKeyRing();
const otherRing = testKeyRing();
const { log } = recordingLog();

/** The answer of one turn, as its worker has it and as WeCom sees it. */
export interface PulledTurn {
  live: LiveReply;
  claim: TurnClaim;
  /** The turn's messages, the oldest first. */
  messages: InboundMessage[];
  isFenced(): boolean;
  /** Polls a message as its sender, or as another person; the only one unless told. */
  poll(index?: number, userId?: string): ReturnType<typeof readLiveReply>;
  /** Polls at a receiver that has another key. */
  pollElsewhere(): ReturnType<typeof readLiveReply>;
  /** Answers a delivery of a message that came again. */
  repeat(index: number): ReturnType<typeof readLiveReply>;
  /** Shows the last look and commits. */
  finish(text: string, status?: string): Promise<void>;
  keyOf(index: number): string;
  /** Lets time go by, for the worker as for Redis. */
  pass(ms: number): Promise<void>;
}

/** WeCom, a Redis and what it takes to answer there; Redis is empty before each test. */
export interface PulledScene {
  readonly server: TestRedis;
  readonly store: TurnStore;
  readonly platform: Platform;
  /** What went by the response_url, and what became of it: sent unless told. */
  readonly postedLater: string[];
  readonly laterResults: PostResult[];
  /** How far the worker's clock is ahead of Redis' own; milliseconds. */
  workerAheadMs: number;
  /** Begins the turn of messages that came so many milliseconds before; one that came now unless told. */
  open(cameBeforeMs?: number[]): Promise<PulledTurn>;
}

export function usePulledScene(): PulledScene {
  let passedMs = 0;
  const nowMs = () => Date.now() + passedMs + scene.workerAheadMs;
  const scene = { postedLater: [] as string[], laterResults: [] as PostResult[], workerAheadMs: 0, open } as {
    -readonly [Name in keyof PulledScene]: PulledScene[Name];
  };
  const wecom = createWecom({
    ...{ botToken: 'token', botAesKey: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG', botName: 'Parley' },
    ...{ webhookWindowSec: 300, nowMs, log },
    tokenStore: { read: async () => undefined, write: async () => undefined },
  });
  const platform: Platform = {
    ...wecom,
    replyLater: async (_handle, text) => {
      scene.postedLater.push(text);
      return scene.laterResults.shift() ?? 'sent';
    },
  };

  scene.platform = platform;
  beforeAll(async () => {
    scene.server = await startTestRedis();
    scene.store = new DyingWorkersStore({ redis: scene.server.redis, keyRing, nowMs, historyLifeMs: MINUTE_MS });
  });
  afterAll(() => scene.server.stop());
  beforeEach(() => void (scene.workerAheadMs = 0));
  beforeEach(begin);

  async function begin(): Promise<void> {
    await scene.server.redis.flushall();
    for (const list of [scene.postedLater, scene.laterResults]) list.splice(0);
  }

  async function open(cameBeforeMs = [0]): Promise<PulledTurn> {
    await begin();
    const { redis } = scene.server;
    const inbox = new Inbox({ redis, keyRing, nowMs });
    const messages = cameBeforeMs.map((_, index) =>
      textMessage(`question ${index}`, { laterReplyHandle: 'https://example.test/later' }),
    );
    const [first] = messages;
    if (!first) throw new Error('no message');
    const conversation = conversationOf(first, 'member');
    const ids: string[] = [];
    for (const message of messages) ids.push((await inbox.accept(conversation, message)).deliveryId);
    const keyOf = (index: number) => messageKey(conversation.partition, ids[index] ?? '');
    // Ages are counted by Redis' clock, which no test can move, so what it stamped is.
    const age = (index: number, byMs: number) => redis.hincrby(keyOf(index), 'atMs', -byMs);
    await Promise.all(cameBeforeMs.map((byMs, index) => age(index, byMs)));
    const claim = await scene.store.begin(conversation);
    if (claim?.messages.length !== ids.length) throw new Error('not one turn');
    let isFenced = false;
    const live = createLiveReply({
      ...{ redis, keyRing, platform, nowMs, log, conversation, language: 'en', afterCare: new AfterCare(log) },
      monotonicMs: () => performance.now() + passedMs,
      report: { firstTextShown: () => undefined, answerKept: () => undefined, replyHandedOver: () => undefined },
      epoch: claim.epoch,
      deliveryId: ids.at(-1) ?? '',
      mergedIds: ids.slice(0, -1),
      startedAtMs: claim.startedAtMs,
      wasHandedOver: claim.wasHandedOver,
      laterReplyHandle: first.laterReplyHandle,
      replyTarget: undefined,
      signal: AbortSignal.any([]),
      stopped: () => undefined,
      fenced: () => void (isFenced = true),
      storeAnswer: (text) => scene.store.storeAnswer(claim, text),
      sealAnswer: (text) => scene.store.sealAnswer(claim, text),
      isClaimHeld: () => true,
    });
    const read = (index: number, userId: string, isRepeat: boolean, ring = keyRing) => {
      const { partition } = conversation;
      const polled = { partition, deliveryId: ids[index] ?? '', personId: personIdOf(first, userId), isRepeat };
      return readLiveReply({ redis, keyRing: ring, platform }, polled);
    };
    return {
      ...{ live, claim, messages, keyOf, isFenced: () => isFenced },
      poll: (index = 0, userId = first.sender.userId) => read(index, userId, false),
      pollElsewhere: () => read(0, first.sender.userId, false, otherRing),
      repeat: (index) => read(index, first.sender.userId, true),
      async finish(text, status) {
        await scene.store.commit(claim, { outcome: 'final', records: await live.finish(text, status) });
      },
      async pass(ms) {
        passedMs += ms;
        await Promise.all(ids.map((_id, index) => age(index, ms)));
      },
    };
  }
  return scene;
}
