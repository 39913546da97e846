import { fieldsToRead, messageFields, type MessageValues } from '../domain/message-record.ts';
import { conversationKeys, messageKey } from '../domain/partition-keys.ts';
import { monotonicMs, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import { localize } from '../../shared/text/texts.ts';
import { REPLY_CHANNEL, type ReplyView } from '../domain/reply.ts';
import type { DeliveryId } from '../domain/ids.ts';
import { isLongAnswer } from '../platforms/split-answer.ts';
import { EarlierSnapshot } from './earlier-snapshot.ts';
import { sealFollowUp } from './follow-ups/follow-up.ts';
import {
  fileNotice,
  continuationNotice,
  maxNoticeBytes,
  keptPieces,
  withCutNotice,
} from './follow-ups/follow-up-format.ts';
import { MAX_MESSAGES } from './answer-file.ts';
import type { ReplyExtras, FinalRecord, LiveReply, LiveReplyOptions, ReplyAction } from './live-reply.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { endedInTime } from './turn-abort.ts';
import { bindSpan } from '../../shared/tracing/tracing.ts';
import { EditThrottle, progressOf } from './edit-throttle.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';

const showScript = loadScript(import.meta.url, './scripts/show.lua', {
  constants: { REPLY_CHANNEL },
  keys: ['state', '...records'],
  args: ['epoch', 'isNotified', 'offers', 'did', '...snapshots'],
  answer: { verdict: ['shown', 'stale'], wasHandedOver: 'flag' },
});

export const CONTENT_PURPOSE = 'reply';
/**
 * Guard before the handover during which a live reply is not ended, because a poll of another process could hand it over
 * meanwhile.
 */
const HANDOVER_GUARD_MS = 5 * SECOND_MS;
/** An open reply is polled about every second; a reply not polled for this long has ended. */
const POLLED_WITHIN_MS = 30 * SECOND_MS;
/** Maximum bytes of a status in a message, including its markup. */
const STATUS_ROOM_BYTES = 1_100;

/** The remainder of an answer, delivered after its final snapshot. */
interface Follows {
  pieces: readonly string[];
  /** The complete answer, if it is sent as a file. */
  file: string | undefined;
  /** Of a complete answer. */
  status?: string;
}

/**
 * One visible answer while it grows, on a platform that polls. Every snapshot is stored in Redis under the conversation's
 * epoch, and any receiver can serve it. The first text is written at once, later ones at the platform's pace; each write has
 * the newest complete text.
 */
export class PulledReply implements LiveReply {
  readonly #options: LiveReplyOptions;
  readonly #pacer: EditThrottle;
  #hasShownText = false;
  #hasWritten = false;
  #isHandedOver: boolean;
  /** Last snapshot of a dead worker. */
  readonly #earlier: EarlierSnapshot | undefined;
  readonly #monotonicMs: NowMs;
  /**
   * Arrival time of the message on the monotonic clock: a poll decides the handover by Redis' clock, and the local clock may
   * jump meanwhile (RELIABILITY.md wrong-clocks).
   */
  readonly #cameAtMs: number;

  constructor(options: LiveReplyOptions) {
    this.#options = options;
    const { deliveryId, claim, deps } = options;
    this.#isHandedOver = claim.wasHandedOver;
    const { redis, keyRing } = deps;
    const place = { redis, keyRing, deliveryId, partition: claim.conversation.partition, purpose: CONTENT_PURPOSE };
    this.#earlier = claim.wasBegun ? new EarlierSnapshot(place) : undefined;
    this.#monotonicMs = deps.monotonicMs ?? monotonicMs;
    this.#cameAtMs = this.#monotonicMs() - (deps.nowMs() - claim.startedAtMs);
    const { minEditGapMs: minGapMs } = options.platform.replyTraits;
    this.#pacer = new EditThrottle({
      minGapMs,
      // The first write tells whether a poll has ended the reply.
      writesAtOnce: true,
      nowMs: monotonicMs,
      // Called while the model's answer is read, but a step of the turn.
      write: bindSpan((view: ReplyView) => this.#write(view)),
      onError: (error) => deps.log.debug({ error, trace: deliveryId }, 'a snapshot of an answer could not be stored'),
    });
  }

  /**
   * Cannot be determined during the live time, because polls may only be late. A repeated answer is harmless: a platform that
   * has the first one does not poll again.
   */
  async findCompleteAnswer(): Promise<FinalRecord[] | undefined> {
    return undefined;
  }

  /**
   * After a failover, when the live time is over: whether a poll had probably ended the reply. The platform polls an open reply
   * about every second, and stops once a poll has ended the reply.
   */
  async #findUnpolledEnd(): Promise<FinalRecord[] | undefined> {
    const { claim, deliveryId, platform, deps } = this.#options;
    const { redis } = deps;
    const key = messageKey(claim.conversation.partition, deliveryId);
    const [againMs, polledAgain, atMs] = await redis.hmget(key, ...fieldsToRead('againMs', 'polledAgain', 'atMs'));
    if (typeof againMs !== 'string' || typeof polledAgain === 'string') return undefined;
    const [nowSec] = await redis.time();
    const { liveLifetimeMs, handoverMarginMs } = platform.replyTraits;
    // If its live time had ended by then, the outcome is unknown; a follow-up is safe, because the handle accepts an answer
    // only once.
    const couldBePolled = Number(againMs) - Number(atMs) < liveLifetimeMs - handoverMarginMs;
    const isNotPolled = Number(nowSec) * SECOND_MS - Number(againMs) >= POLLED_WITHIN_MS;
    if (!couldBePolled || !isNotPolled) return undefined;
    // Read only if the platform still polls and its polls did not arrive: a part of the answer must not look like the whole.
    const text = localize(REPLY_TEXTS.tookTooLong, this.#options.language);
    return [this.#record({ text, finished: true }, { delivery: 'live' }), ...this.#mergedRecords()];
  }

  prepare(): void {
    // Nothing to prepare: the script that writes a snapshot checks the fence.
  }

  show(view: Omit<ReplyView, 'finished'>): void {
    this.#pacer.show(view);
  }

  /** Whether the answer must be delivered as a follow-up because its live time has ended or is about to end. */
  get #mustHandOver(): boolean {
    const { liveLifetimeMs, handoverMarginMs } = this.#options.platform.replyTraits;
    return this.#isHandedOver || this.#ageMs >= liveLifetimeMs - handoverMarginMs - HANDOVER_GUARD_MS;
  }

  get #ageMs(): number {
    return this.#monotonicMs() - this.#cameAtMs;
  }

  retract(text: string): Promise<FinalRecord[]> {
    return this.finish(text);
  }

  /**
   * Ends the reply with as much as the live message can hold. The remainder is delivered as a follow-up after the commit,
   * which records it together with this final snapshot: the person does not wait for it, and no crash separates the two. An
   * answer of more than one message is stored before it is split, which takes time, so that a worker that takes over neither
   * asks the model again nor loses the answer (SECURITY.md noted-before-posted).
   */
  async finish(
    text: string,
    { status, thinking, offers = [], fileHeader = '' }: ReplyExtras = {},
  ): Promise<FinalRecord[]> {
    await this.close();
    const { platform, language } = this.#options;
    // The status is part of the same message; the reasoning gets the remaining room.
    const statusBytes = status === undefined ? 0 : STATUS_ROOM_BYTES;
    const apart = { status, thinking };
    if (isLongAnswer(text, platform.replyTraits.maxBytes) && !(await this.#options.controls.storeAnswer(text)))
      return [];
    const pieces = await this.#cut(text, statusBytes);
    const isFile = pieces.length > MAX_MESSAGES && this.#canFollow && platform.replyLaterAsFile !== undefined;
    const file = isFile ? fileHeader + text : undefined;
    const merged = this.#mergedRecords();
    const ended = this.#mustHandOver ? await this.#findUnpolledEnd() : undefined;
    if (ended) return ended;
    if (this.#mustHandOver) {
      const notice = localize(REPLY_TEXTS[this.#canFollow ? 'followsBelow' : 'tookTooLong'], language);
      // Beside the answer itself, or the file's notice.
      const isBelow = this.#canFollow && file === undefined;
      const view = { text: notice, status: isBelow ? undefined : status, finished: true };
      return [this.#goingOn(view, { pieces, file, status }, { handedOver: '1' }), ...merged];
    }
    const offered = this.#offersWith(offers);
    const [first = '', ...rest] = pieces;
    if (rest.length === 0)
      return [this.#record({ text: first, ...apart, finished: true }, { delivery: 'live', ...offered }), ...merged];
    const mark = isFile ? fileNotice(language) : continuationNotice(language);
    const shown = this.#canFollow ? first + mark : withCutNotice(platform, first, language, statusBytes);
    return [this.#goingOn({ text: shown, ...apart, finished: true }, { pieces: rest, file }, offered), ...merged];
  }

  /**
   * Splits the answer into messages that each leave room for the continuation notice. An answer longer than one message is
   * parsed only once.
   */
  async #cut(text: string, statusBytes: number): Promise<string[]> {
    const { platform, language } = this.#options;
    if (!isLongAnswer(text, platform.replyTraits.maxBytes)) {
      const whole = platform.splitReply(text, statusBytes);
      if (whole.length <= 1) return whole;
    }
    return platform.splitAnswer(text, statusBytes + maxNoticeBytes(language));
  }

  /** Whether the platform can deliver a follow-up to this message. */
  get #canFollow(): boolean {
    const { laterReplyHandle, platform, asker } = this.#options;
    return laterReplyHandle !== undefined && platform.replyLater !== undefined && asker !== undefined;
  }

  /** The final snapshot of a reply that continues in another message, with its follow-up. */
  #goingOn(view: ReplyView, follows: Follows, more: MessageValues = {}): FinalRecord {
    const { pieces, file, status } = follows;
    const { platform, deliveryId, laterReplyHandle: handle, language, asker, deps } = this.#options;
    if (!this.#canFollow || handle === undefined || !asker) {
      deps.report.replyHandedOver({ platform: platform.name, deliveryId, result: 'unavailable' });
      return this.#record(view, { ...more, delivery: 'unavailable' });
    }
    const followUp = sealFollowUp(deps.keyRing, deliveryId, {
      ...{ version: 1, platform: platform.name, ...asker(), handle, handleAgeMs: Math.round(this.#ageMs), language },
      ...{ pieces: keptPieces(platform, pieces, language), file, status, isWhole: more.handedOver !== undefined },
    });
    return { ...this.#record(view, { ...more, delivery: 'follows' }), followUp };
  }

  async leaveOpen(text: string): Promise<FinalRecord[]> {
    await this.close();
    const open = this.#record({ text, finished: false }, { keep: '1' });
    return [open, ...this.#mergedRecords()];
  }

  async close(): Promise<void> {
    await this.#pacer.close();
  }

  async abandon(): Promise<void> {
    await endedInTime(this.close());
  }

  async #write(view: ReplyView): Promise<undefined> {
    const { deps, claim, controls, deliveryId, mergedIds, platform } = this.#options;
    const { conversation, epoch } = claim;
    if (await this.#earlier?.holds(platform.renderReply(view))) return;
    const ids = this.#lastShownIds(deliveryId, mergedIds);
    const snapshots = ids.map((id) =>
      id === deliveryId ? [this.#seal(id, view), '0', ''] : [this.#sealMerged(id), '1', this.#newerThan(id)],
    );
    const records = ids.map((id) => messageKey(conversation.partition, id));
    const keys = { state: conversationKeys(conversation).state, records };
    claim.trace.count('s');
    const { verdict, wasHandedOver } = await showScript.run(deps.redis, keys, {
      epoch,
      isNotified: platform.replyTraits.isNotified === true,
      offers: this.#takesOffers ? this.#options.language : '',
      did: claim.trace.text(),
      snapshots: snapshots.flat(),
    });
    if (verdict === 'stale') {
      controls.fenced();
      return;
    }
    this.#isHandedOver ||= wasHandedOver;
    if (progressOf(view) > 0 && !this.#hasShownText) {
      this.#hasShownText = true;
      deps.report.firstTextShown({ platform: platform.name, deliveryId, afterMs: this.#ageMs });
    }
  }

  /** Ids to write; only the first write includes the merged messages, which then point to the answer. */
  #lastShownIds(deliveryId: DeliveryId, mergedIds: DeliveryId[]): DeliveryId[] {
    const isFirstWrite = !this.#hasWritten;
    this.#hasWritten = true;
    return isFirstWrite ? [deliveryId, ...mergedIds] : [deliveryId];
  }

  #offersWith(offers: readonly ReplyAction[]): MessageValues {
    const isOffered = this.#takesOffers && offers.includes('retry');
    return definedOnly({ offers: isOffered ? this.#options.language : undefined });
  }

  get #takesOffers(): boolean {
    return this.#options.platform.replyTraits.takesOffers !== undefined;
  }

  get #isNotified(): boolean | undefined {
    return this.#options.platform.replyTraits.isNotified;
  }

  #mergedRecords(): FinalRecord[] {
    return this.#options.mergedIds.map((id) => ({
      id,
      isNotified: this.#isNotified,
      fields: messageFields({ content: this.#sealMerged(id), finished: '1', newer: this.#newerThan(id) }),
    }));
  }

  /** Messages that may show the answer of a merged message: the newer ones of its turn, the answered one last (poll.lua). */
  #newerThan(mergedId: DeliveryId): string {
    const { mergedIds, deliveryId } = this.#options;
    return [...mergedIds.slice(mergedIds.indexOf(mergedId) + 1), deliveryId].join(' ');
  }

  #record(view: ReplyView, extra: MessageValues): FinalRecord {
    const { deliveryId } = this.#options;
    const content = this.#seal(deliveryId, view);
    const fields = messageFields({ content, finished: view.finished ? '1' : '0', ...extra });
    return { id: deliveryId, fields, isNotified: this.#isNotified };
  }

  #seal(id: DeliveryId, view: ReplyView): string {
    return this.#options.deps.keyRing.seal(CONTENT_PURPOSE, id, this.#options.platform.renderReply(view));
  }

  #sealMerged(id: DeliveryId): string {
    return this.#seal(id, { text: localize(REPLY_TEXTS.answeredBelow, this.#options.language), finished: true });
  }
}
