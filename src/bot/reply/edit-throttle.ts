import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { ReplyView } from '../domain/reply.ts';

export interface EditThrottleOptions {
  /** Floor between the beginnings of two writes. Milliseconds. */
  minGapMs: number;
  nowMs: NowMs;
  /** Brings the visible answer to a snapshot. @returns how long nothing may be written from now on, when the platform says so (ms) */
  write(view: ReplyView): Promise<number | undefined>;
  /** Told when a write threw; the snapshot is written again after a while. */
  onError(error: Error): void;
}

/** So long after a write that threw nothing is written. Milliseconds. */
const AFTER_ERROR_MS = SECOND_MS;

/** How far an answer has come by a snapshot: 2 its text, 1 that the model thinks, 0 nothing of the model's. A status counts for nothing. */
export function progressOf({ text, thinking }: Omit<ReplyView, 'finished'>): number {
  return text !== '' ? 2 : thinking !== undefined ? 1 : 0;
}

/**
 * Decides when a growing answer is written: the first thought and the first text at once, later
 * ones at the platform's pace, always the newest
 * whole snapshot; what comes in between is never written.
 */
export class EditThrottle {
  readonly #options: EditThrottleOptions;
  #view: Omit<ReplyView, 'finished'> = { text: '' };
  #isDirty = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #progress = 0;
  #endPause: (() => void) | undefined;

  constructor(options: EditThrottleOptions) {
    this.#options = options;
  }

  /** Writes a snapshot soon; returns at once. */
  show(view: Omit<ReplyView, 'finished'>): void {
    if (this.#isClosed) return;
    const isFirst = progressOf(view) > progressOf(this.#view);
    this.#view = view;
    this.#isDirty = true;
    if (isFirst) this.#endPause?.();
    this.#writing ??= this.#writeWhileDirty().finally(() => (this.#writing = undefined));
  }

  /** Writes nothing more. @returns what settles behind the write under way, if there is one */
  close(): Promise<void> | undefined {
    this.#isClosed = true;
    this.#isDirty = false;
    this.#endPause?.();
    return this.#writing;
  }

  async #writeWhileDirty(): Promise<void> {
    const { nowMs, minGapMs, write } = this.#options;
    while (this.#isDirty) {
      const isFirst = progressOf(this.#view) > this.#progress;
      const paceMs = isFirst ? Number.NEGATIVE_INFINITY : this.#lastWriteMs + minGapMs;
      const pauseMs = Math.max(paceMs, this.#notBeforeMs) - nowMs();
      if (pauseMs > 0) await this.#pause(pauseMs);
      if (this.#isClosed) return;
      this.#isDirty = false;
      this.#lastWriteMs = nowMs();
      const view = { ...this.#view, finished: false };
      const waitMs = await write(view).catch((thrown: unknown) => this.#onError(thrown));
      if (waitMs === undefined) this.#progress = Math.max(this.#progress, progressOf(view));
      // Whoever ends the reply meanwhile does not wait until this snapshot may be tried again.
      if (waitMs === undefined || this.#isOver()) continue;
      this.#notBeforeMs = nowMs() + waitMs;
      this.#isDirty = true;
    }
  }

  #isOver(): boolean {
    return this.#isClosed;
  }

  /** Nobody waits for a snapshot, so that what it threw would end the process. The last snapshot has a caller who learns of it. */
  #onError(thrown: unknown): number {
    this.#options.onError(asError(thrown));
    return AFTER_ERROR_MS;
  }

  /** Waits, but no longer than until the first text comes or the reply is closed. */
  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
