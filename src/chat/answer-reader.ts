import type { Readable } from 'node:stream';
import type { AnswerWatch } from './answer-watch.ts';
import type { ChatEvent } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import { PieceQueue } from './piece-queue.ts';
import type { AnswerDecoder } from './stream-decoder.ts';

/** Reads one HTTP answer, a network piece at a time: few steps a token, since this is the hottest loop of the bot. */
export class AnswerReader {
  readonly #pieces: PieceQueue;
  readonly #decoder: AnswerDecoder;
  readonly #watch: AnswerWatch;
  #hasSpoken = false;
  #isOver = false;
  #outcome: 'complete' | 'truncated' | 'open' = 'open';

  constructor(body: Readable, decoder: AnswerDecoder, watch: AnswerWatch) {
    this.#pieces = new PieceQueue(body);
    this.#decoder = decoder;
    this.#watch = watch;
  }

  /** `open` until the end event; after it `complete` or `truncated`. */
  get outcome(): 'complete' | 'truncated' | 'open' {
    return this.#outcome;
  }

  /** Whether the finish reason is one that this version does not know. */
  get hasUnknownReason(): boolean {
    return this.#decoder.hasUnknownReason;
  }

  /** The next events, at least one; undefined after the end event. @throws ChatError */
  async next(): Promise<ChatEvent[] | undefined> {
    while (!this.#isOver) {
      const events = await this.#read();
      if (events.length === 0) continue;
      this.#hasSpoken = true;
      return events;
    }
    return undefined;
  }

  /** Gives the connection back after a complete answer, else cuts it. Safe to call twice. */
  close(): void {
    if (this.#outcome === 'complete' && this.#decoder.isFinished) void this.#drain();
    else this.#watch.abort();
  }

  async #read(): Promise<ChatEvent[]> {
    let bytes: Buffer | undefined;
    try {
      bytes = await this.#pieces.next();
    } catch (cause) {
      return this.#cut(cause);
    }
    if (bytes === undefined) return this.#end();
    this.#watch.sawBytes(bytes.length);
    const events = this.#decoder.push(bytes);
    if (this.#decoder.isDone) return [...events, ...this.#end()];
    if (this.#decoder.isFinished) this.#watch.sawFinish();
    return events;
  }

  /** The connection broke, or the watch ended it. Once the finish reason was seen neither matters but a cancel. */
  #cut(cause: unknown): ChatEvent[] {
    const failure = this.#watch.failure;
    if (failure && (failure.code === 'chat_cancelled' || !this.#decoder.isFinished)) throw failure;
    return this.#end(cause);
  }

  #end(cause?: unknown): ChatEvent[] {
    this.#isOver = true;
    const events = this.#decoder.end();
    const last = events.at(-1);
    this.#outcome = last?.type === 'end' && last.reason === 'truncated' ? 'truncated' : 'complete';
    if (this.#outcome === 'truncated' && !this.#hasSpoken && events.length === 1) {
      throw new ChatError('chat_truncated', 'The connection ended before the answer began', {
        isRetryable: true,
        cause,
      });
    }
    return events;
  }

  /** After the end mark the rest is read off, for a short while, so that the connection can be used again. */
  async #drain(): Promise<void> {
    this.#watch.sawFinish();
    await this.#pieces.discard();
    this.#watch.close();
  }
}
