import { ChatError } from '../chat-error.ts';
import type { ChatLimits } from '../chat-limits.ts';

export interface WatchOptions {
  limits: Pick<ChatLimits, 'idleMs' | 'afterFinishMs' | 'maxAnswerBytes'>;
  firstByteMs: number;
  /** Remaining time for the whole call. */
  totalMs: number;
  /** The caller's abort signal. */
  signal: AbortSignal;
}

/**
 * Enforces the time and size limits and the caller's signal on one HTTP call; all of them end it the same way
 * (SECURITY.md chat-time-limits).
 */
export class AnswerWatch {
  readonly #options: WatchOptions;
  #failure: ChatError | undefined;
  #onFailure: ((failure: ChatError) => void) | undefined;
  readonly #totalTimer: NodeJS.Timeout;
  readonly #cancel = () => this.#fail(new ChatError('chat_cancelled', 'The chat call was cancelled'));
  #stageTimer: NodeJS.Timeout;
  #stage: 'waiting' | 'reading' | 'ending' = 'waiting';
  #bytes = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#stageTimer = this.#startStage(
      options.firstByteMs,
      'chat_timeout',
      'The chat service sent no first byte in time',
    );
    this.#totalTimer = setTimeout(
      () => this.#fail(new ChatError('chat_timeout', 'The chat call took too long')),
      options.totalMs,
    );
    if (options.signal.aborted) this.#cancel();
    else options.signal.addEventListener('abort', this.#cancel, { once: true });
  }

  /** @param listener called once, immediately if the failure has already happened; must end the HTTP call */
  onFailure(listener: (failure: ChatError) => void): void {
    this.#onFailure = listener;
    if (this.#failure) listener(this.#failure);
  }

  /** The failure with which the watch ended the call, if any. */
  get failure(): ChatError | undefined {
    return this.#failure;
  }

  /** Records received bytes. @throws ChatError `chat_answer_too_large` */
  recordBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.#options.limits.maxAnswerBytes) {
      throw new ChatError('chat_answer_too_large', 'The answer exceeded its maximum size');
    }
    if (this.#stage === 'waiting') this.#enter('reading', this.#options.limits.idleMs, 'The answer stalled');
    else if (this.#stage === 'reading') this.#stageTimer.refresh();
  }

  /** Records the finish reason. A call that hangs afterwards has still succeeded. */
  recordFinish(): void {
    if (this.#stage !== 'ending')
      this.#enter('ending', this.#options.limits.afterFinishMs, 'The end marker of the stream is missing');
  }

  /** Frees the connection immediately, in any state. */
  abort(): void {
    this.#cancel();
    this.close();
  }

  /** Stops watching. */
  close(): void {
    clearTimeout(this.#stageTimer);
    clearTimeout(this.#totalTimer);
    this.#options.signal.removeEventListener('abort', this.#cancel);
  }

  #enter(stage: 'reading' | 'ending', limitMs: number, failure: string): void {
    clearTimeout(this.#stageTimer);
    this.#stage = stage;
    this.#stageTimer = this.#startStage(limitMs, 'chat_stalled', failure);
  }

  #startStage(limitMs: number, code: 'chat_timeout' | 'chat_stalled', message: string): NodeJS.Timeout {
    return setTimeout(() => this.#fail(new ChatError(code, message)), limitMs);
  }

  #fail(failure: ChatError): void {
    if (this.#failure) return;
    this.#failure = failure;
    this.#onFailure?.(failure);
  }
}
