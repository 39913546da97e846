import { asError } from '../../shared/coded-error.ts';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import { inBackground } from '../../shared/in-background.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { conversationOf, type ConversationRef } from '../domain/conversation.ts';
import type { InboundMessage } from '../domain/message.ts';
import { conversationKeys, messageKey } from '../domain/partition-keys.ts';
import type { PlatformName } from '../domain/platform-name.ts';
import type { TurnClaim, TurnCommit } from '../domain/turn.ts';
import { Inbox } from './accept.ts';
import { enqueue } from './enqueue.ts';
import type { QueueReport } from './queue-report.ts';
import type { WakeQueue } from './wake-queue.ts';

/**
 * Not the name of a platform. A worker of a version without canaries finds no platform for the message, and ends its turn
 * without a write.
 */
const CANARY_PLATFORM = 'canary' as PlatformName;
/** Time after which a canary is looked up. It is committed within milliseconds unless something is wrong. */
const LOOK_UP_AFTER_MS = 5 * SECOND_MS;
/** The health allows one missed canary this much delay, for a worker that takes over from a dead one. */
const ALLOWANCE_MS = 30 * SECOND_MS;
/** Higher than the rate of canaries at every interval. */
const MAX_PER_MINUTE = 100;

export interface CanaryOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  wakeQueue: WakeQueue;
  /** Sender of the canaries. */
  workerName: string;
  everyMs: number;
  /** Whether all slots of this worker are in use. A wake may then wait although nothing is wrong. */
  isBusy(): boolean;
  monotonicMs: NowMs;
  log: Log;
  report: Pick<QueueReport, 'canaryEnded'>;
}

/**
 * Sends a synthetic question through accept, wake, claim and commit at an interval, without a platform and without the
 * model. Any worker may run it. Each canary has a conversation of its own in a random partition and leaves nothing in Redis.
 */
export class Canary {
  readonly #options: CanaryOptions;
  readonly #inbox: Inbox;
  readonly #timer: NodeJS.Timeout;
  #lookUpTimer: NodeJS.Timeout | undefined;
  #sent: ConversationRef | undefined;
  #isWorking = false;
  #provenAtMs: number;

  constructor(options: CanaryOptions) {
    this.#options = options;
    this.#provenAtMs = options.monotonicMs();
    const { redis, keyRing, everyMs } = options;
    this.#inbox = new Inbox({ redis, keyRing, limits: { personPerMinute: MAX_PER_MINUTE } });
    this.#timer = setInterval(() => this.#run(), everyMs);
    this.#run();
  }

  /** Whether a canary was committed recently, or none could be expected because this worker was busy. */
  isHealthy(): boolean {
    return this.#options.monotonicMs() - this.#provenAtMs <= this.#options.everyMs + ALLOWANCE_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#lookUpTimer);
  }

  #run(): void {
    // While Redis is unavailable a command waits for it.
    if (this.#isWorking) return;
    this.#isWorking = true;
    inBackground(async () => {
      try {
        if (!(await this.#isCommitted('late'))) return;
        if (this.#options.isBusy()) this.#provenAtMs = this.#options.monotonicMs();
        else await this.#send();
      } catch (error) {
        this.#options.log.debug({ error: asError(error) }, 'a canary question could not be sent');
        this.#options.report.canaryEnded({ outcome: 'not-stored' });
      } finally {
        this.#isWorking = false;
      }
    });
  }

  async #send(): Promise<void> {
    const { workerName, everyMs } = this.#options;
    const message = canaryMessage(workerName);
    const conversation = conversationOf(message, 'member');
    await enqueue({ ...this.#options, inbox: this.#inbox }, conversation, message);
    this.#sent = conversation;
    this.#lookUpTimer = setTimeout(
      () => inBackground(() => this.#isCommitted()),
      Math.min(LOOK_UP_AFTER_MS, everyMs / 2),
    );
  }

  /** @param otherwise reported if the canary is not committed. @returns whether no canary waits */
  async #isCommitted(otherwise?: 'late'): Promise<boolean> {
    const { redis, report, isBusy } = this.#options;
    const sent = this.#sent;
    if (!sent) return true;
    const waits = (await redis.exists(conversationKeys(sent).inbox)) > 0;
    if (this.#sent !== sent) return true;
    if (waits) {
      if (otherwise && isBusy()) this.#provenAtMs = this.#options.monotonicMs();
      else if (otherwise) report.canaryEnded({ outcome: otherwise });
      return false;
    }
    this.#sent = undefined;
    this.#provenAtMs = this.#options.monotonicMs();
    report.canaryEnded({ outcome: 'committed' });
    return true;
  }
}

export function isCanary({ messages }: TurnClaim): boolean {
  return messages[0]?.message.platform === CANARY_PLATFORM;
}

/** Ends the turn of a canary and removes everything that it stored. */
export function commitCanary({ conversation, messages }: TurnClaim): TurnCommit {
  const records = messages.map(({ deliveryId }) => messageKey(conversation.partition, deliveryId));
  return {
    outcome: 'final',
    records: [],
    erase: { remove: [], drop: [...records, conversationKeys(conversation).state] },
  };
}

function canaryMessage(workerName: string): InboundMessage {
  const id = randomToken(16);
  return {
    version: 1,
    platform: CANARY_PLATFORM,
    tenant: 'canary',
    app: 'canary',
    messageId: id,
    chat: { kind: 'private', id },
    sender: { userId: workerName },
    parts: [{ type: 'text', text: 'canary' }],
  };
}
