import { asError } from '../../../shared/coded-error.ts';
import { Deferred } from '../../../shared/deferred.ts';
import type { AnswerWatch } from './answer-watch.ts';
import { ChatError } from '../chat-error.ts';
import type { ChatEvent, EndReason, OnChatEvent } from '../chat-types.ts';
import type { AnswerDecoder } from './stream-decoder.ts';

/** Finish reasons with which an empty answer is valid. */
const SILENT_REASONS: ReadonlySet<EndReason> = new Set(['length', 'content_filter']);

export interface ReaderOptions {
  decoder: AnswerDecoder;
  watch: AnswerWatch;
  onEvent: OnChatEvent;
}

/**
 * Reads one HTTP response to its end. This is the hottest path of the bot, so bytes become events and reach the listener
 * synchronously: there is no await between the connection and the text shown to the user.
 */
export class AnswerReader {
  readonly #ended = new Deferred();
  readonly #decoder: AnswerDecoder;
  readonly #watch: AnswerWatch;
  readonly #onEvent: OnChatEvent;
  #hasSpoken = false;
  #isOver = false;
  #outcome: 'complete' | 'truncated' | 'open' = 'open';

  constructor({ decoder, watch, onEvent }: ReaderOptions) {
    this.#decoder = decoder;
    this.#watch = watch;
    this.#onEvent = onEvent;
  }

  /** Resolves after the `end` event was delivered. Rejects with a ChatError or the listener's error. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** `open` until the `end` event, then `complete` or `truncated`. */
  get outcome(): 'complete' | 'truncated' | 'open' {
    return this.#outcome;
  }

  /** Whether this version does not know the finish reason. */
  get hasUnknownReason(): boolean {
    return this.#decoder.hasUnknownReason;
  }

  onBytes(bytes: Buffer): void {
    // After a complete answer, the remaining bytes are drained so that the connection can be reused.
    if (!this.#isOver) this.#take(() => this.#decode(bytes));
  }

  onEnd(cause?: Error): void {
    if (!this.#isOver) this.#take(() => (cause === undefined ? this.#end() : this.#cut(cause)));
    this.#watch.close();
  }

  #take(read: () => ChatEvent[]): void {
    try {
      this.#emit(read());
      if (this.#outcome === 'open') return;
      this.#leave();
      this.#ended.resolve();
    } catch (error) {
      this.#isOver = true;
      this.#ended.reject(this.#failWith(asError(error)));
    }
  }

  /** Delivers the text that waited for its next characters, since the text of a failed answer stays. */
  #failWith(error: Error): Error {
    if (!this.#hasSpoken || !(error instanceof ChatError) || error.code === 'chat_cancelled') return error;
    try {
      this.#emit(this.#decoder.held());
      return error;
    } catch (thrown) {
      return asError(thrown);
    }
  }

  #emit(events: readonly ChatEvent[]): void {
    this.#hasSpoken ||= events.length > 0;
    for (const event of events) {
      const { failure } = this.#watch;
      if (failure?.code === 'chat_cancelled') throw failure;
      this.#onEvent(event);
    }
  }

  #decode(bytes: Buffer): ChatEvent[] {
    this.#watch.recordBytes(bytes.length);
    const events = this.#decoder.push(bytes);
    // Events from the same bytes as the end are delivered with it.
    this.#hasSpoken ||= events.length > 0;
    if (this.#decoder.isDone) return [...events, ...this.#end()];
    if (this.#decoder.isFinished) this.#watch.recordFinish();
    return events;
  }

  /** The connection broke, or the watch ended it. After the finish reason, only a cancellation matters. */
  #cut(cause: Error): ChatEvent[] {
    const failure = this.#watch.failure;
    if (failure && (failure.code === 'chat_cancelled' || !this.#decoder.isFinished)) throw failure;
    return this.#end(cause);
  }

  #end(cause?: Error): ChatEvent[] {
    this.#isOver = true;
    const events = this.#decoder.end();
    const last = events.at(-1);
    this.#outcome = last?.type === 'end' && last.reason === 'truncated' ? 'truncated' : 'complete';
    const isSilent = !this.#hasSpoken && events.every(isSilence);
    if (isSilent && this.#outcome === 'truncated')
      throw new ChatError('chat_truncated', 'The connection ended before the answer began', {
        isRetryable: true,
        cause,
      });
    // A faulty engine may end normally without any text. The SILENT_REASONS explain an empty answer.
    if (isSilent && last?.type === 'end' && !SILENT_REASONS.has(last.reason))
      throw new ChatError('chat_bad_stream', 'The chat service sent an empty answer', { isRetryable: true });
    return events;
  }

  /**
   * Stops reading. After a complete answer the connection may briefly wait for the end marker so that it can be reused;
   * otherwise it is aborted.
   */
  #leave(): void {
    if (this.#outcome === 'complete' && this.#decoder.isFinished) this.#watch.recordFinish();
    else this.#watch.abort();
  }
}

function isSilence(event: ChatEvent): boolean {
  return event.type === 'end' || event.type === 'usage' || (event.type === 'text' && event.delta.trim() === '');
}
