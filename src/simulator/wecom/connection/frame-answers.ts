import { setTimeout as pause } from 'node:timers/promises';
import { randomToken, sha256Hex } from '../../../shared/crypto/ids.ts';
import { KeyedMutex } from '../../keyed-mutex.ts';
import type { MessengerContext } from '../../protocol.ts';
import type { StoredMessage } from '../../stored-message.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from '../api-result.ts';
import { readReply, splitThinking } from '../read-reply.ts';
import { answerIdOf, type ShownAnswers, type StreamReply, type WholeMessage } from '../shown-answers.ts';
import type { ConnectionTiming } from './connection-timing.ts';
import type { ConversationLimits } from './conversation-limits.ts';
import type { Uploads } from './uploads.ts';
import { botFileLine } from '../../http/bot-file.ts';
import { readDelayedAnswer } from '../response-urls.ts';

export interface FrameAnswersOptions {
  side: MessengerContext;
  shown: ShownAnswers;
  limits: ConversationLimits;
  timing: ConnectionTiming;
  uploads: Uploads;
  /** Whether each snapshot of a stream counts as a message; the platform does not document it. */
  countsFrames: boolean;
}

/** The bot's answers as frames: each snapshot of a stream replaces the previous one, and nothing is polled. */
export class FrameAnswers {
  readonly #options: FrameAnswersOptions;
  readonly #mutex = new KeyedMutex();
  /** Unfinished streams, by the message's id. */
  readonly #growing = new Map<string, StoredMessage>();
  /** Questions whose request or stream was rejected, by conversation: the next message pushed there may answer them. */
  readonly #refused = new Map<string, Set<string>>();
  #watching: Promise<unknown> = Promise.resolve();

  constructor(options: FrameAnswersOptions) {
    this.#options = options;
  }

  /** Ends, in the background, answers that were not finished within their time limit. */
  run(): void {
    this.#watching = this.#watch();
  }

  /** Resumes an unfinished answer of an earlier run. */
  follow(answer: StoredMessage): void {
    this.#growing.set(answer.id, answer);
  }

  /** Handles a frame that answers a message. */
  respond(question: StoredMessage, body: unknown): Promise<ApiResult> {
    return this.#mutex.run(question.conversationId, async () => {
      if (!isStream(body)) return this.#respondWhole(question, body);
      const reply = readReply(body);
      if (reply.kind === 'stream') return this.#respondStream(question, reply);
      return this.#violated(reply.kind === 'refused' ? reply.reason : 'the frame is not a stream', question.id);
    });
  }

  /** Handles a message that the bot pushes unprompted. */
  push(conversationId: string, body: unknown): Promise<ApiResult> {
    return this.#mutex.run(conversationId, async () => {
      const whole = readWhole(body, this.#options.uploads, this.#options.side.url());
      if ('refused' in whole) return this.#violated(whole.refused);
      const limited = this.#limited(conversationId);
      if (limited) return limited;
      const question = await this.#refusedQuestion(conversationId, whole.text);
      if (question) await this.#finishOtherwise(question, whole);
      else await this.#showPush(conversationId, whole);
      return apiOk();
    });
  }

  /** Handles a complete answer through the message's response URL; an answer that is still growing is not changed. */
  bring(question: StoredMessage, whole: WholeMessage): Promise<void> {
    return this.#mutex.run(question.conversationId, () => this.#finishOtherwise(question, whole));
  }

  /** The platform no longer accepts the bot's frames for this question. */
  noteRefused(question: StoredMessage): void {
    const refused = this.#refused.get(question.conversationId) ?? new Set<string>();
    this.#refused.set(question.conversationId, refused.add(question.id));
  }

  async settled(): Promise<void> {
    await this.#mutex.settled();
    await this.#watching;
  }

  async #respondStream(question: StoredMessage, reply: StreamReply): Promise<ApiResult> {
    const { side, shown, countsFrames } = this.#options;
    const first = await this.#read(answerIdOf(question.id));
    const isFirst = !first || first.answer?.streamId === reply.id;
    const id = isFirst ? answerIdOf(question.id) : furtherIdOf(question.id, reply.id);
    const known = isFirst ? first : await this.#read(id);
    if (!known) return this.#openStream(question, reply, id);
    if (side.nowMs() >= (known.answer?.untilMs ?? 0)) {
      this.noteRefused(question);
      return apiFault(ERRCODE.streamExpired, 'stream message update expired (>6 minutes)');
    }
    const limited = countsFrames ? this.#limited(question.conversationId) : undefined;
    if (limited) return limited;
    const isOver = known.state !== 'streaming';
    // A process that missed its acknowledgement repeats the last snapshot.
    if (isOver && !(reply.isFinished && isSame(known, reply)))
      this.#violated('a frame came after the last one of its stream', question.id);
    const isLast = isOver || reply.isFinished;
    this.#note(await shown.show(known, { ...reply, isFinished: isLast }, true));
    return apiOk();
  }

  async #openStream(question: StoredMessage, reply: StreamReply, id: string): Promise<ApiResult> {
    const { side, shown, timing } = this.#options;
    const limited = this.#limited(question.conversationId);
    if (limited) return limited;
    const others = [...this.#growing.values()].filter(({ answer }) => answer?.questionId === question.id);
    if (others.some(({ answer }) => side.nowMs() < (answer?.untilMs ?? 0)))
      this.#violated('a stream was begun before the one before it was finished', question.id);
    this.#note(await shown.open(question, reply, side.nowMs() + timing.streamWindowMs, id));
    return apiOk();
  }

  async #respondWhole(question: StoredMessage, body: unknown): Promise<ApiResult> {
    const { side, shown, uploads } = this.#options;
    const whole = readWhole(body, uploads, side.url());
    if ('refused' in whole) return this.#violated(whole.refused, question.id);
    const limited = this.#limited(question.conversationId);
    if (limited) return limited;
    const isAnswer = whole.isText && (await this.#read(answerIdOf(question.id))) === undefined;
    const id = isAnswer ? answerIdOf(question.id) : undefined;
    await shown.showWhole(question, whole, id);
    await side.store.markSettled(question.id);
    return apiOk();
  }

  /** Leaves the unfinished answer as it is; the complete one counts instead. */
  async #finishOtherwise(question: StoredMessage, whole: WholeMessage): Promise<void> {
    const { shown, side } = this.#options;
    this.#refused.get(question.conversationId)?.delete(question.id);
    const first = await this.#read(answerIdOf(question.id));
    const instead = await shown.showWhole(question, whole, first ? undefined : answerIdOf(question.id));
    if (!first?.answer || first.state === 'final') return;
    const left: StoredMessage = { ...first, state: 'final', answer: { ...first.answer, insteadId: instead.id } };
    this.#growing.delete(first.id);
    await shown.settle(left);
    await side.chatLog.write(left, true);
  }

  /**
   * The question that a pushed text answers: the one whose unfinished answer it continues, otherwise the first rejected one.
   */
  async #refusedQuestion(conversationId: string, text: string): Promise<StoredMessage | undefined> {
    const ids = [...(this.#refused.get(conversationId) ?? [])];
    const answers = await Promise.all(ids.map((id) => this.#read(answerIdOf(id))));
    const open = ids.flatMap((id, index) => {
      const answer = answers[index];
      return answer?.state === 'final' ? [] : [{ id, begun: answer?.text ?? '' }];
    });
    const continued = open.filter(({ begun }) => begun !== '' && text.startsWith(begun));
    const [chosen] = [...continued.sort((left, right) => right.begun.length - left.begun.length), ...open];
    return chosen && this.#read(chosen.id);
  }

  async #showPush(conversationId: string, whole: WholeMessage): Promise<void> {
    await this.#options.shown.showOwn(conversationId, whole, pushId());
  }

  #limited(conversationId: string): ApiResult | undefined {
    if (this.#options.limits.take(conversationId)) return undefined;
    this.#violated('more messages than a conversation accepts');
    return apiFault(ERRCODE.tooManyMessages, 'message frequency limit exceeded');
  }

  #violated(reason: string, questionId?: string): ApiResult {
    this.#options.side.trace.recordViolation(reason, questionId);
    return apiFault(ERRCODE.badParameter, reason);
  }

  #note(answer: StoredMessage): void {
    if (answer.state === 'streaming') this.#growing.set(answer.id, answer);
    else this.#growing.delete(answer.id);
  }

  #read(id: string): Promise<StoredMessage | undefined> {
    return this.#options.side.store.get(id).catch(() => undefined);
  }

  async #watch(): Promise<void> {
    const { side } = this.#options;
    const { signal } = side.background;
    for (;;) {
      await pause(side.timing.pollEveryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await this.#endUnfinished().catch((error: unknown) => {
        side.background.failed(error, 'an unfinished answer could not be finished');
      });
    }
  }

  async #endUnfinished(): Promise<void> {
    const { side, timing, shown } = this.#options;
    const growing = [...this.#growing.values()];
    const over = growing.filter(({ answer }) => side.nowMs() >= (answer?.untilMs ?? 0) + timing.lastWordMs);
    for (const { id, conversationId } of over)
      await this.#mutex.run(conversationId, async () => {
        const answer = await this.#read(id);
        if (answer?.state === 'streaming') await shown.expire(answer);
        this.#growing.delete(id);
      });
  }
}

function isSame(known: StoredMessage, { content, images }: StreamReply): boolean {
  const { text, thinking, note } = splitThinking(content);
  return (
    text === known.text && thinking === known.thinking && note === known.note && images.length === known.images.length
  );
}

/** Each further stream of an answer is a separate message, the same one whichever process sends to it. */
function furtherIdOf(questionId: string, streamId: string): string {
  return `${answerIdOf(questionId)}-${sha256Hex(streamId).slice(0, 16)}`;
}

function pushId(): string {
  return `push-${randomToken(12)}`;
}

type ReadWhole = (WholeMessage & { isText: boolean }) | { refused: string };

/** Whether a frame's body is a snapshot of a growing answer. */
function isStream(body: unknown): boolean {
  const msgtype = msgtypeOf(body);
  return msgtype === 'stream' || msgtype === 'stream_with_template_card';
}

/** Validates a complete message: markdown, a card, or a file that was uploaded before. @param url of the messenger */
function readWhole(body: unknown, uploads: Uploads, url: string): ReadWhole {
  const msgtype = msgtypeOf(body);
  if (msgtype === 'markdown' || msgtype === 'template_card') {
    const read = readDelayedAnswer(body);
    return read.kind === 'refused' ? { refused: read.reason } : { ...read, isText: msgtype === 'markdown' };
  }
  const file = uploads.find(((body ?? {}) as Record<string, { media_id?: unknown } | undefined>)[msgtype]?.media_id);
  if (file?.type !== msgtype) return { refused: 'the message has an unknown type' };
  return file.type === 'image'
    ? { text: '', images: [file.bytes], isText: false }
    : { text: botFileLine(url, file), isText: false };
}

function msgtypeOf(body: unknown): string {
  const msgtype = (body as { msgtype?: unknown } | null | undefined)?.msgtype;
  return typeof msgtype === 'string' ? msgtype : '';
}
