import { setTimeout as sleep } from 'node:timers/promises';
import { asError } from '../../../../shared/coded-error.ts';
import { HOUR_MS, KIB_BYTES, MINUTE_MS, monotonicMs, SECOND_MS } from '../../../../shared/clock.ts';
import { inBackground } from '../../../../shared/in-background.ts';
import type { Log } from '../../../../shared/log.ts';
import type { PulledReply } from '../../../domain/reply.ts';
import { asDeliveryId } from '../../../domain/ids.ts';
import type { AnswerFile, ConnectionHandlers } from '../../platform.ts';
import { offersCard } from '../offers-card.ts';
import { newReqId, type BotSocket, type FrameAnswer } from './bot-socket.ts';
import type { ChatRateLimiter } from './chat-pace.ts';
import type { Refusal, RefusalClassifier } from '../../write-meaning.ts';
import { STREAM_OVER, UNKNOWN_REQUEST } from './codes.ts';
import type { HeldLease } from './lease.ts';
import type { ReplyEnd, ReplyPlace, ReplyPlaces } from './reply-places.ts';
import { uploadFile } from './upload-file.ts';
import { withoutThinkingBlock } from './words-alone.ts';

export interface ReplyPumpOptions {
  socket: Pick<BotSocket, 'send' | 'ask' | 'isOpen' | 'waitingBytes'>;
  lease: Pick<HeldLease, 'number' | 'isCertain'>;
  places: ReplyPlaces;
  pace: ChatRateLimiter;
  /** The current snapshot of a live answer. @returns undefined if it is not available now; never rejects */
  pollReply(id: string, place: ReplyPlace): Promise<PulledReply | undefined>;
  /** Link of a card's body; without it there are no cards. */
  cardUrl?: string;
  log: Log;
  /** Decides what a refusal means. */
  writes: RefusalClassifier;
  /** How long a refusal of an answer's final text is retried if it may pass. Milliseconds. */
  passWithinMs: number;
  /** Says that WeCom refused the answer in this stream and that it follows as a new message. */
  refusedNotice: string;
  /** Called for an answer that WeCom refused in every form; the answer is stored elsewhere once this resolves. */
  onUndeliverable: ConnectionHandlers['onUndeliverable'];
}

interface SentStream {
  content: string;
  finished: boolean;
  place: ReplyPlace;
}

/** Interval of checks without a notification: an answer may exceed its time, and a notification may be lost. */
const CHECK_EVERY_MS = 5 * SECOND_MS;
/** Maximum unsent bytes of a socket; above it the connection is slow, and newer snapshots replace unsent ones. */
const MAX_WAITING_BYTES = 64 * KIB_BYTES;
const FIRST_PAUSE_MS = SECOND_MS;
const MAX_PAUSE_MS = 15 * SECOND_MS;
/** Pause after a refused snapshot; waiting longer for a snapshot is not worthwhile. */
const SNAPSHOT_PAUSE_MS = 2 * SECOND_MS;
/** Lifetime of a live answer; WeCom takes answers for a day. */
const KEPT_MS = 24 * HOUR_MS;
/** Lifetime of a later message; its sender keeps it for the next private reply after ten minutes. */
const LATER_KEPT_MS = 8 * MINUTE_MS;
/** Maximum tries to upload and send a file; then its answer goes as messages. */
const MAX_FILE_TRIES = 3;
/** Maximum tries to end a stream that is left. */
const MAX_CLOSING_TRIES = 4;
const FEEDBACK_BYTES = 256;

/**
 * Shows answers over the bot's connection, as WeCom's own polls do over the webhook. When notified of a change it reads and
 * sends the newest snapshot, so that a slow connection never builds a backlog. The next holder of the connection sends the
 * newest snapshot again.
 */
export class ReplyPump {
  readonly #options: ReplyPumpOptions;
  readonly #replies = new Map<string, TrackedReply>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;
  /** Whether the open places of earlier holders have been loaded. */
  #hasTakenUp = false;

  constructor(options: ReplyPumpOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#checkDue(), CHECK_EVERY_MS / 5);
  }

  /** Loads all open places of earlier holders of the connection. */
  async loadOpenPlaces(): Promise<void> {
    const all = await this.#options.places.all();
    // Its stream may have begun: an empty frame would erase the visible text.
    for (const { id, place, ageMs } of all) this.#track(id, place, { hasLeft: true, ageMs });
    this.#hasTakenUp = true;
  }

  /** Begins a new answer. Its first frame is empty; WeCom then shows that an answer follows. */
  begin(id: string, place: ReplyPlace): void {
    this.#track(id, place, { hasLeft: false, ageMs: 0 });
  }

  /** Handles a notification that an answer changed. @param laterReqId set if its message was delivered again */
  onReplyChanged(id: string, laterReqId?: string): void {
    inBackground(
      async () => {
        const shown = this.#replies.get(id);
        const found = shown ? undefined : await this.#options.places.find(id);
        if (found) this.#track(id, found.place, { hasLeft: false, ageMs: found.ageMs });
        const told = this.#replies.get(id);
        if (!told) return;
        if (laterReqId !== undefined && laterReqId !== told.place.reqId) await this.#change(told, { laterReqId });
        this.#serve(told);
      },
      (error) => this.#options.log.debug({ error }, 'an answer for the connection could not be read'),
    );
  }

  /** Checks all answers again after notifications may have been missed. */
  recheckAll(): void {
    this.#hasTakenUp = false;
    this.#checkDue();
    for (const shown of this.#replies.values()) this.#serve(shown);
  }

  /** Stops sending. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { timer } of this.#replies.values()) clearTimeout(timer);
    this.#replies.clear();
  }

  #track(id: string, place: ReplyPlace, { hasLeft: hasSent, ageMs }: { hasLeft: boolean; ageMs: number }): void {
    if (this.#isClosed || this.#replies.has(id)) return;
    const shown: TrackedReply = {
      ...{
        id,
        place,
        openedAtMs: monotonicMs() - ageMs,
        content: undefined,
        hasSent,
        isDirty: false,
        isServed: false,
      },
      ...{ lookedAtMs: monotonicMs(), notBeforeMs: 0, failures: 0, timer: undefined, end: undefined, isOver: false },
      ...{ card: undefined, mediaId: undefined, refusedSinceMs: undefined },
    };
    this.#replies.set(id, shown);
    this.#serve(shown);
  }

  #checkDue(): void {
    if (!this.#hasTakenUp) inBackground(() => this.loadOpenPlaces());
    const beforeMs = monotonicMs() - CHECK_EVERY_MS;
    for (const shown of this.#replies.values()) if (shown.lookedAtMs <= beforeMs) this.#serve(shown);
  }

  #serve(shown: TrackedReply): void {
    shown.isDirty = true;
    if (shown.isServed || this.#isClosed) return;
    shown.isServed = true;
    inBackground(async () => {
      try {
        while (shown.isDirty && !shown.isOver && this.#maySend()) await this.#update(shown);
      } catch (thrown) {
        // Redis is unavailable; the next check finds the answer again.
        this.#options.log.debug({ error: asError(thrown), trace: shown.id }, 'an answer waits for the connection');
      } finally {
        shown.isServed = false;
      }
    });
  }

  #maySend(): boolean {
    return !this.#isClosed && this.#options.socket.isOpen && this.#options.lease.isCertain();
  }

  /** Updates one answer to its current snapshot. */
  async #update(shown: TrackedReply): Promise<void> {
    shown.isDirty = false;
    if (shown.end) return this.#end(shown, shown.end);
    const waitMs = shown.notBeforeMs - monotonicMs();
    if (waitMs > 0) return this.#later(shown, waitMs);
    shown.lookedAtMs = monotonicMs();
    if (this.#isTooOld(shown)) return this.#end(shown, 'refused');
    if (isLater(shown.place) && this.#isBehindLive(shown)) return;
    if (shown.place.file) return this.#showFile(shown, shown.place.file);
    const look = await this.#readSnapshot(shown);
    if (!look || shown.isOver) return;
    const { content, finished } = look;
    shown.card ??= offersCard(look.offers, this.#options.cardUrl);
    if (shown.place.whole !== undefined) {
      if (!finished) return;
      if (shown.place.whole === 'push') return this.#sendOnce(shown, markdown(content), content);
    }
    if (!finished && (content === shown.content || (content === '' && shown.hasSent))) return;
    if (!finished && this.#options.socket.waitingBytes > MAX_WAITING_BYTES) return this.#later(shown, FIRST_PAUSE_MS);
    await this.#send(shown, content, finished);
  }

  async #readSnapshot({ id, place }: TrackedReply): Promise<PulledReply | undefined> {
    if (place.text !== undefined) return { replyId: id as PulledReply['replyId'], content: place.text, finished: true };
    return this.#options.pollReply(id, place);
  }

  /** A later message is shown below the live one of the same request. */
  #isBehindLive({ place }: TrackedReply): boolean {
    for (const other of this.#replies.values())
      if (!isLater(other.place) && other.place.reqId === place.reqId) return true;
    return false;
  }

  async #send(shown: TrackedReply, content: string, finished: boolean): Promise<void> {
    const { pace, socket } = this.#options;
    const { place } = shown;
    const isFirst = !shown.hasSent;
    const waitMs = pace.tryAcquire(place.chat.id, isFirst ? 'begins' : finished ? 'whole' : 'snapshot');
    if (waitMs > 0) return this.#later(shown, waitMs);
    // The last check before sending: a process that was frozen may no longer hold the lease.
    if (!this.#maySend()) return;
    shown.hasSent = true;
    const feedback = isFirst && !isLater(place) ? { id: shown.id.slice(0, FEEDBACK_BYTES) } : undefined;
    const sent = { content, finished, place };
    const stream = { id: place.streamId, finish: finished, content, feedback };
    // Answers do not identify a frame: a late one to an earlier or to this final frame shows that the text is visible.
    const onLate = (errcode: number) => {
      if (finished && errcode === 0) inBackground(() => this.#onAnswer(shown, sent, 0));
    };
    const sending = socket.send('aibot_respond_msg', place.reqId, { msgtype: 'stream', stream }, onLate);
    // The first text does not wait for WeCom's answer to the empty frame before it.
    if (content === '' && !finished) inBackground(async () => this.#onAnswer(shown, sent, await sending));
    else await this.#onAnswer(shown, sent, await sending);
  }

  async #onAnswer(shown: TrackedReply, sent: SentStream, answer: FrameAnswer): Promise<void> {
    if (shown.isOver || this.#isClosed) return;
    const { reqId, streamId } = shown.place;
    // The answer was moved to another delivery method meanwhile.
    if (sent.place.reqId !== reqId || sent.place.streamId !== streamId) return this.#serve(shown);
    if (answer === 0) {
      shown.failures = 0;
      shown.content = sent.content;
      if (sent.finished) {
        this.#offer(shown);
        await this.#end(shown, 'sent');
      }
      return;
    }
    const refusal = this.#refusalOf('aibot_respond_msg', answer, shown.place);
    if (answer === UNKNOWN_REQUEST) return this.#changeWay(shown);
    if (answer === STREAM_OVER && shown.place.whole === 'stream') return this.#leaveStream(shown);
    if (answer === STREAM_OVER) {
      shown.hasSent = false;
      shown.content = undefined;
      await this.#change(shown, { streamId: `${shown.id}.whole`, whole: 'stream' });
      return this.#serve(shown);
    }
    // An empty frame only announces the answer.
    if (sent.content === '' && !sent.finished) return;
    this.#options.log.debug(
      { errcode: answer, trace: shown.id, whole: sent.finished },
      'WeCom did not accept a frame of an answer',
    );
    if (sent.finished && refusal !== undefined && this.#isPermanent(shown, refusal)) return this.#leaveStream(shown);
    this.#failed(shown, sent.finished);
  }

  /** @returns why WeCom refused a frame; undefined if it gave no answer, or certainly takes the frame later */
  #refusalOf(cmd: string, answer: FrameAnswer, { chat }: ReplyPlace): Refusal | undefined {
    if (answer === undefined) return undefined;
    const meaning = this.#options.writes.judge(cmd, answer);
    if (meaning === 'snapshot' || meaning === 'method' || meaning === 'conversation') return meaning;
    // WeCom does not document the code of its conversation limits: an unknown code may be one.
    this.#options.pace.recordRefusal(chat.id);
    return meaning === 'transient' ? meaning : undefined;
  }

  #isPermanent(shown: TrackedReply, refusal: Refusal): boolean {
    shown.refusedSinceMs ??= monotonicMs();
    const isOver = monotonicMs() - shown.refusedSinceMs >= this.#options.passWithinMs;
    if (refusal === 'transient' && !isOver) return false;
    shown.refusedSinceMs = undefined;
    return true;
  }

  /**
   * Handles a stream whose final text WeCom refuses in every form: pushes the text. The stream ends with the notice that the
   * answer follows, so that no part of it is visible twice and nothing looks as if it were still being written.
   */
  async #leaveStream(shown: TrackedReply): Promise<void> {
    shown.failures = 0;
    await this.#change(shown, { whole: 'push' });
    inBackground(() => this.#closeStream(shown.place));
    this.#serve(shown);
  }

  async #closeStream({ reqId, streamId: id }: ReplyPlace): Promise<void> {
    const stream = { id, finish: true, content: this.#options.refusedNotice };
    for (let attempt = 0; attempt < MAX_CLOSING_TRIES && this.#maySend(); attempt += 1) {
      const answer = await this.#options.socket.send('aibot_respond_msg', reqId, { msgtype: 'stream', stream });
      if (answer === 0 || answer === UNKNOWN_REQUEST || answer === STREAM_OVER) return;
      await sleep(FIRST_PAUSE_MS * 2 ** attempt, undefined, { ref: false });
    }
  }

  /** Sends the card without waiting. It is left out if WeCom refuses it or the chat's limit is reached. */
  #offer({ card, place }: TrackedReply): void {
    const { pace, socket } = this.#options;
    if (!card || pace.tryAcquire(place.chat.id, 'begins') > 0 || !this.#maySend()) return;
    inBackground(() =>
      socket.send('aibot_respond_msg', place.reqId, { msgtype: 'template_card', template_card: card }),
    );
  }

  /**
   * Handles a request that WeCom no longer knows: uses the request of a later delivery, or pushes the answer once it is
   * complete.
   */
  async #changeWay(shown: TrackedReply): Promise<void> {
    const { laterReqId } = shown.place;
    shown.hasSent = false;
    shown.content = undefined;
    if (laterReqId === undefined) await this.#change(shown, { whole: 'push' });
    else await this.#change(shown, { reqId: laterReqId, laterReqId: undefined });
    this.#serve(shown);
  }

  #failed(shown: TrackedReply, finished: boolean): void {
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(shown.failures, 6));
    shown.failures += 1;
    this.#later(shown, finished ? pauseMs : SNAPSHOT_PAUSE_MS);
  }

  /** A file's message is not a stream: a repetition would be shown twice. */
  async #showFile(shown: TrackedReply, file: AnswerFile): Promise<void> {
    shown.mediaId ??= await uploadFile(this.#options.socket, file, this.#options.writes);
    if (shown.isOver) return;
    const { mediaId } = shown;
    if (mediaId !== undefined) return this.#sendOnce(shown, { msgtype: 'file', file: { media_id: mediaId } });
    this.#options.log.debug({ trace: shown.id }, 'a file could not be uploaded');
    await this.#failedFile(shown);
  }

  /**
   * Sends a complete message once: it cannot be withdrawn or repeated. Uses its request, or a push if WeCom no longer knows
   * the request.
   */
  async #sendOnce(shown: TrackedReply, message: object, content = ''): Promise<void> {
    const { pace, places, lease, socket } = this.#options;
    const { chat, reqId, whole, file } = shown.place;
    const waitMs = pace.tryAcquire(chat.id, 'begins');
    if (waitMs > 0) return this.#later(shown, waitMs);
    const verdict = await places.beginPush(shown.id, lease.number);
    if (verdict === 'stale') return;
    if (verdict === 'left') return this.#supposeSent(shown);
    if (!this.#maySend()) return places.withdrawPush(shown.id, lease.number);
    const isPush = whole === 'push';
    const address = { chatid: chat.id, chat_type: chat.kind === 'private' ? 1 : 2 };
    // Both leave in the same event-loop turn, so that a process rarely dies between them.
    inBackground(() => places.markPushSent(shown.id, lease.number));
    const answer = await (isPush
      ? socket.send('aibot_send_msg', newReqId('aibot_send_msg'), { ...address, ...message })
      : socket.send('aibot_respond_msg', reqId, message));
    if (answer === 0) return this.#end(shown, 'sent');
    if (answer === undefined) return this.#supposeSent(shown);
    await places.withdrawPush(shown.id, lease.number);
    const refusal = this.#refusalOf(isPush ? 'aibot_send_msg' : 'aibot_respond_msg', answer, shown.place);
    if (answer === UNKNOWN_REQUEST && !isPush) return this.#changeWay(shown);
    if (file && refusal !== 'conversation') return this.#failedFile(shown);
    if (refusal === undefined || !this.#isPermanent(shown, refusal)) return this.#failed(shown, true);
    await this.#giveUp(shown, content);
  }

  /** The caller of a later message uses another delivery method; a live answer is stored for the person's next reply. */
  async #giveUp(shown: TrackedReply, content: string): Promise<void> {
    const { id, place } = shown;
    if (!isLater(place))
      await this.#options.onUndeliverable({
        replyId: asDeliveryId(id),
        userId: place.userId,
        text: withoutThinkingBlock(content),
      });
    await this.#end(shown, 'refused');
  }

  /** After the last try the file is not shown anywhere, and its sender delivers the answer as messages. */
  async #failedFile(shown: TrackedReply): Promise<void> {
    if (shown.failures + 1 >= MAX_FILE_TRIES) return this.#end(shown, 'refused');
    this.#failed(shown, true);
  }

  async #supposeSent(shown: TrackedReply): Promise<void> {
    const words = 'it is unknown whether a pushed answer arrived; it is not pushed again';
    this.#options.log.warn({ trace: shown.id }, words);
    await this.#end(shown, 'sent');
  }

  async #change(shown: TrackedReply, changes: Partial<ReplyPlace>): Promise<void> {
    shown.place = { ...shown.place, ...changes };
    await this.#options.places.change(shown.id, shown.place, this.#options.lease.number);
  }

  #isTooOld({ openedAtMs, place }: TrackedReply): boolean {
    return monotonicMs() - openedAtMs > (isLater(place) ? LATER_KEPT_MS : KEPT_MS);
  }

  async #end(shown: TrackedReply, how: ReplyEnd): Promise<void> {
    // If Redis is unavailable, only this step is retried.
    shown.end = how;
    await this.#options.places.end(shown.id, how);
    const { whole: way } = shown.place;
    if (how === 'sent' && way)
      this.#options.log.info({ trace: shown.id, way }, 'an answer was finished outside its stream');
    shown.isOver = true;
    this.#replies.delete(shown.id);
    // Later messages of the same request may now be shown below it.
    for (const other of this.#replies.values()) if (other.place.reqId === shown.place.reqId) this.#serve(other);
  }

  #later(shown: TrackedReply, pauseMs: number): void {
    shown.notBeforeMs = monotonicMs() + pauseMs;
    clearTimeout(shown.timer);
    shown.timer = setTimeout(() => this.#serve(shown), pauseMs);
  }
}

/** One answer while it is shown over this connection. */
interface TrackedReply {
  id: string;
  place: ReplyPlace;
  /** Opening time of its place, on the monotonic clock. */
  openedAtMs: number;
  /** Content that WeCom has taken over this connection; undefined before the first frame. */
  content: string | undefined;
  /** Whether a frame was sent over this connection. */
  hasSent: boolean;
  isDirty: boolean;
  isServed: boolean;
  lookedAtMs: number;
  /** Time before which nothing is sent. */
  notBeforeMs: number;
  failures: number;
  /** When WeCom first refused its final text by the current delivery method, on the monotonic clock. */
  refusedSinceMs: number | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Set once WeCom has the final text and only the record of it remains. */
  end: ReplyEnd | undefined;
  isOver: boolean;
  /** The card with its buttons, sent after it. */
  card: object | undefined;
  /** Media id of an uploaded file that is not visible yet. */
  mediaId: string | undefined;
}

/** Whether it is a later message or file below an answer, which has no record of its own. */
function isLater({ text, file }: ReplyPlace): boolean {
  return text !== undefined || file !== undefined;
}

function markdown(content: string): object {
  return { msgtype: 'markdown', markdown: { content: withoutThinkingBlock(content) } };
}
