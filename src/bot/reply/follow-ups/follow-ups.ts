import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../../../shared/coded-error.ts';
import { MINUTE_MS, monotonicMs, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { inBackground } from '../../../shared/in-background.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import type { Log } from '../../../shared/log.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { ALL_PARTITIONS } from '../../domain/conversation.ts';
import type { Platform, PostResult } from '../../platforms/platform.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { ANSWER_FILE_NAME } from '../answer-file.ts';
import type { ReplyReport } from '../reply-report.ts';
import { createFollowUpStore, type FollowUpStore, type ClaimedFollowUp } from './follow-up-store.ts';
import { openFollowUp, type FollowUp } from './follow-up.ts';
import { storeDeferredMessage } from './deferred-messages.ts';
import {
  afterAttempt,
  formatProgress,
  nextMethod,
  readProgress,
  type Progress,
  type DeliveryMethod,
} from './progress.ts';
import { restOfParts, formatForHandle, formatStandalone, withStatus } from './follow-up-format.ts';

/**
 * How long the platform's own delivery methods are tried after the commit. Then the next private reply begins with the text.
 */
const TRIED_FOR_MS = 10 * MINUTE_MS;
/** Claim time; longer than any single attempt. A worker that is silent for longer loses the claim. */
const HELD_MS = 20 * SECOND_MS;
const FIRST_PAUSE_MS = 0.5 * SECOND_MS;
const MAX_PAUSE_MS = 30 * SECOND_MS;
/** Claim time of a follow-up whose key this process does not have; the key may return. */
const UNREADABLE_HELD_MS = 5 * MINUTE_MS;
const MAX_AT_ONCE = 50;
const CLAIM_BYTES = 12;

export interface FollowUpsOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platforms: ReadonlyMap<PlatformName, Platform>;
  log: Log;
  report: Pick<ReplyReport, 'replyHandedOver'>;
  /** Monotonic clock for durations. Defaults to the process's clock. */
  monotonicMs?: NowMs;
  /** Waits this long (ms), or until the signal. Defaults to a timer. */
  pause?(pauseMs: number, signal: AbortSignal): Promise<void>;
}

interface FollowUpDelivery {
  store: FollowUpStore;
  taken: ClaimedFollowUp;
  followUp: FollowUp;
  platform: Platform;
  /** Time since the commit. Milliseconds. */
  ageMs(): number;
}

/**
 * Delivers follow-ups after their turn has ended, while the conversation continues. Each follow-up is claimed by one worker
 * at a time. If that worker dies, another resumes the delivery without duplicates.
 */
export class FollowUps {
  readonly #options: FollowUpsOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: FollowUpsOptions) {
    this.#options = options;
  }

  /**
   * Called after each commit with a follow-up. Returns at once; a later pass claims the follow-ups that this call cannot.
   */
  wake(partition: number): void {
    inBackground(
      () => this.deliverDue(partition),
      (error) => this.#options.log.warn({ error }, 'the rest of an answer waits'),
    );
  }

  /** Claims due follow-ups of a partition and delivers them in the background. */
  async deliverDue(partition: number): Promise<void> {
    const { redis } = this.#options;
    const maxTaken = MAX_AT_ONCE - this.#running.size;
    if (this.#isClosing || maxTaken <= 0) return;
    const store = createFollowUpStore({ redis, partition, claim: randomToken(CLAIM_BYTES) });
    const now = this.#options.monotonicMs ?? monotonicMs;
    const takenAtMs = now();
    for (const taken of await store.take(HELD_MS, maxTaken)) {
      const ageMs = () => taken.ageMs + now() - takenAtMs;
      const bringing = this.#bring(store, taken, ageMs).catch((error: unknown) => {
        this.#options.log.warn({ error: asError(error) }, 'the rest of an answer could not be delivered yet');
      });
      this.#running.add(bringing);
      inBackground(() => bringing.finally(() => this.#running.delete(bringing)));
    }
  }

  /** Makes one pass over all partitions, for follow-ups of dead workers. */
  async repeat(): Promise<void> {
    await Promise.allSettled(ALL_PARTITIONS.map((partition) => this.deliverDue(partition)));
  }

  /** Waits until this process has delivered all follow-ups that it has claimed. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Ends after the attempts in progress; releases the other claims. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.settle();
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #bring(store: FollowUpStore, taken: ClaimedFollowUp, ageMs: () => number): Promise<void> {
    const { keyRing, platforms, log } = this.#options;
    const opened = openFollowUp(keyRing, taken.deliveryId, taken.sealed);
    // A damaged follow-up, or one whose key is missing, is retried later; another process may be able to open it.
    if (opened.kind !== 'opened') log.warn({ error: opened.error }, 'the rest of an answer cannot be decrypted');
    const followUp = opened.kind === 'opened' ? opened.value : undefined;
    const platform = followUp && platforms.get(followUp.platform);
    if (!platform) await store.hold(taken, UNREADABLE_HELD_MS, taken.progress);
    else await this.#tryWays({ store, taken, followUp, platform, ageMs });
  }

  async #tryWays(bringing: FollowUpDelivery): Promise<void> {
    const { store, taken, followUp, platform, ageMs } = bringing;
    let progress = readProgress(taken.progress, followUp.file === undefined ? 'handle' : 'file');
    const { refusalsPassWithinMs } = platform.replyTraits;
    let attempt = 0;
    let declinedSinceMs: number | undefined;
    let parts: string[] = [];
    for (;;) {
      progress = nextMethod(progress, { followUp, platform, ageMs: ageMs() });
      if (progress.way === 'reply') return this.#keep(bringing, progress);
      if (progress.way === 'private' && parts.length === 0) parts = partsOf(bringing, progress);
      // Stored before the post, for the next worker in case this process dies during the post.
      const posting = progress.way === 'handle' ? { ...progress, isInDoubt: true } : progress;
      if (!(await store.hold(taken, HELD_MS, formatProgress(posting)))) return;
      const said = await post(bringing, progress, parts);
      declinedSinceMs = said === 'declined' ? (declinedSinceMs ?? ageMs()) : undefined;
      const isForGood = declinedSinceMs !== undefined && ageMs() - declinedSinceMs >= refusalsPassWithinMs;
      const result = isForGood ? 'refused' : said;
      const after = afterAttempt(progress, result, {
        ...{ pieces: followUp.pieces.length, parts: parts.length },
        uses: platform.replyTraits.laterReplyUses,
      });
      if (after === 'brought') return this.#end(bringing, 'sent', progress.way);
      const isFurther =
        after.way !== progress.way || after.sentParts > progress.sentParts || after.sentPieces > progress.sentPieces;
      if (after.way !== progress.way) declinedSinceMs = undefined;
      progress = after;
      if (isFurther) attempt = 0;
      if (isFurther && !this.#isClosing) continue;
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
      attempt += 1;
      if (!isFurther && ageMs() + pauseMs >= TRIED_FOR_MS) return this.#keep(bringing, progress);
      if (!(await store.hold(taken, pauseMs + HELD_MS, formatProgress(progress)))) return;
      if (!this.#isClosing) await (this.#options.pause ?? pause)(pauseMs, this.#closing.signal);
      if (!this.#isClosing) continue;
      // Due at once, for another worker or the next start.
      await store.hold(taken, 0, formatProgress(progress));
      return;
    }
  }

  /**
   * Stores the text for the next private reply, unless another worker has claimed the follow-up and may have delivered it.
   * The text is stored before the follow-up ends, so that a crash in between loses nothing; the next worker then stores it
   * again, which is safe.
   */
  async #keep(bringing: FollowUpDelivery, progress: Progress): Promise<void> {
    const { redis, keyRing } = this.#options;
    const { store, followUp, taken } = bringing;
    if (!(await store.hold(taken, HELD_MS, formatProgress({ ...progress, way: 'reply' })))) return;
    const { sentPieces, sentParts } = progress;
    const text =
      sentParts > 0
        ? restOfParts(followUp, partsOf(bringing, progress), sentParts)
        : formatStandalone(followUp, sentPieces);
    await storeDeferredMessage(redis, keyRing, {
      conversation: followUp.privateChat,
      deliveryId: taken.deliveryId,
      text,
    });
    await this.#end(bringing, 'kept', 'reply');
  }

  async #end(
    { store, taken, platform }: FollowUpDelivery,
    result: 'sent' | 'kept',
    way: DeliveryMethod,
  ): Promise<void> {
    if (!(await store.end(taken, result))) return;
    const { deliveryId } = taken;
    this.#options.report.replyHandedOver({ platform: platform.name, deliveryId, result, way });
  }
}

/** The private messages that hold the text not delivered by a handle. */
function partsOf({ followUp, platform }: FollowUpDelivery, { sentPieces }: Progress): string[] {
  const text = withStatus(formatStandalone(followUp, sentPieces), followUp);
  return platform.splitPrivately?.(text) ?? [text];
}

async function post(
  { taken, followUp, platform }: FollowUpDelivery,
  { way, sentPieces, sentParts }: Progress,
  parts: string[],
): Promise<PostResult> {
  const { handle, file } = followUp;
  if (way === 'file')
    return (await platform.replyLaterAsFile?.(handle, { name: ANSWER_FILE_NAME, text: file ?? '' })) ?? 'refused';
  if (way === 'handle') {
    const words = formatForHandle(platform, followUp, sentPieces);
    return (await platform.replyLater?.(followUp.handle, words, sentPieces)) ?? 'refused';
  }
  const partOf = { name: taken.deliveryId, isLast: sentParts + 1 >= parts.length };
  return (await platform.writePrivately?.(followUp.userId, parts[sentParts] ?? '', partOf)) ?? 'refused';
}

async function pause(pauseMs: number, signal: AbortSignal): Promise<void> {
  await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
}
