import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import type { Log } from '../../../src/shared/log.ts';
import { connectRedis, type RedisClient } from '../../../src/shared/redis/redis.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { InboundMessage } from '../../../src/bot/domain/message.ts';
import { Inbox } from '../../../src/bot/queue/accept.ts';
import type { QueueReport } from '../../../src/bot/queue/queue-report.ts';
import type { TurnStore } from '../../../src/bot/queue/turn-store.ts';
import {
  TurnWorker,
  type RunTurn,
  type TurnSteps,
  type TurnWorkerOptions,
  type WorkerLimits,
} from '../../../src/bot/queue/turn-worker.ts';
import { WakeQueue } from '../../../src/bot/queue/wake-queue.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { DyingWorkersStore } from '../../support/dying-workers.ts';

/** Worker options that a test may override, in one flat object. */
type WorkerOverrides = Partial<WorkerLimits & TurnSteps & Omit<TurnWorkerOptions, 'limits' | 'steps'>>;

/** Real workers on their own Redis, with turns that the test defines. */
export interface WorkerFixture {
  readonly server: TestRedis;
  readonly keyRing: KeyRing;
  readonly inbox: Inbox;
  readonly store: TurnStore;
  readonly wakeQueue: WakeQueue;
  /** The workers' reports as short texts. */
  readonly reported: string[];
  readonly report: QueueReport;
  readonly log: Log;
  startWorker(runTurn: RunTurn, overrides?: WorkerOverrides): TurnWorker;
  /** Accepts a message and wakes its conversation. */
  send(message: InboundMessage): Promise<void>;
}

const { log } = recordingLog();
const keyRing = testKeyRing();
const nowMs = () => Date.now();
const PRESSURE = { softWaiting: 200, hardWaiting: 2_000, softAgeMs: 20_000, hardAgeMs: 300_000 };

/** Sets the fixture up for a test file. Before each test Redis is empty and no worker runs. */
export function useWorkerFixture(): WorkerFixture {
  let workers: TurnWorker[] = [];
  let connections: RedisClient[] = [];
  const reported: string[] = [];
  const report: QueueReport = {
    wakeRepeated: ({ count }) => void reported.push(`woken ${count}`),
    partitionsMissed: ({ count }) => void reported.push(`missed ${count}`),
    turnFenced: () => void reported.push('fenced'),
    turnResumed: ({ crashes }) => void reported.push(`resumed ${crashes}`),
    turnQuarantined: ({ crashes }) => void reported.push(`quarantined ${crashes}`),
    deadLetter: ({ crashes }) => void reported.push(`dead ${crashes}`),
    queueStalled: () => void reported.push('stalled'),
    lockRenewalFailed: () => void reported.push('lock lost'),
    newerVersionMet: ({ what }) => void reported.push(`newer ${what}`),
    keyMissing: ({ waiting }) => void reported.push(`keyless ${waiting}`),
    messagesBroken: ({ count }) => void reported.push(`broken ${count}`),
    storedAnswerLost: () => void reported.push('answer lost'),
    eventRecovered: () => void reported.push('recovered'),
    messageReducedToId: () => void reported.push('kept bare'),
    eventLost: () => void reported.push('lost'),
    pressureChanged: ({ pressure }) => void reported.push(`pressure ${pressure}`),
    canaryEnded: ({ outcome }) => void reported.push(`canary ${outcome}`),
    canaryClaimed: () => void reported.push('canary claimed'),
    runFailed: () => void reported.push('run failed'),
  };
  const fixture = { keyRing, reported, report, log, startWorker, send } as {
    -readonly [Name in keyof WorkerFixture]: WorkerFixture[Name];
  };

  beforeAll(async () => {
    fixture.server = await startTestRedis();
  });
  afterAll(() => fixture.server.stop());
  beforeEach(async () => {
    const { redis } = fixture.server;
    await redis.flushall();
    reported.splice(0);
    const options = { redis, keyRing, nowMs, historyLifeMs: 60_000 };
    fixture.inbox = new Inbox({ ...options, limits: { personPerMinute: 1_000 } });
    fixture.store = new DyingWorkersStore(options);
    fixture.wakeQueue = new WakeQueue(redis, 1, log);
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.close(0)));
    workers = [];
    await fixture.wakeQueue.close();
    for (const connection of connections) connection.disconnect();
    connections = [];
  });

  function startWorker(runTurn: RunTurn, overrides: WorkerOverrides = {}): TurnWorker {
    const redis = connectRedis({ urls: [fixture.server.url] }, 'wait', log, 'worker');
    connections.push(redis);
    const { store, wakeQueue } = fixture;
    const { shards = 1, concurrency = 20, maxCrashes = 5, pressure = PRESSURE, ...others } = overrides;
    const { apologise = async () => ({ outcome: 'dead' as const, records: [] }), ...more } = others;
    const { onHeld = async () => 0, deliverFollowUps, ...parts } = more;
    const worker = new TurnWorker({
      ...{ redis, store, wakeQueue, nowMs, log, report },
      ...parts,
      limits: { shards, concurrency, maxCrashes, pressure },
      steps: { runTurn, apologise, onHeld, deliverFollowUps },
    });
    workers.push(worker);
    return worker;
  }

  async function send(message: InboundMessage): Promise<void> {
    const conversation = conversationOf(message, 'member');
    await fixture.inbox.accept(conversation, message);
    await fixture.wakeQueue.wake(conversation);
  }
  return fixture;
}

/** A private message of a person other than Alice. */
export function messageOf(userId: string, text: string): InboundMessage {
  return textMessage(text, { sender: { userId }, chat: { kind: 'private', id: userId } });
}

export async function until(condition: () => boolean | Promise<boolean>, limitMs = 45_000): Promise<void> {
  const giveUpAtMs = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAtMs) throw new Error('it did not happen in time');
    await sleep(10);
  }
}
