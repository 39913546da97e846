import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { asError } from '../../shared/coded-error.ts';
import type { ReplyView } from '../domain/reply.ts';

export interface EditThrottleOptions {
  /** Minimum time between the starts of two writes: the platform's `minEditGapMs`, or `REPLY_MIN_EDIT_MS`. */
  minGapMs: number;
  /**
   * Whether a snapshot is written at once, even if the answer ends in the same event-loop turn. By default only the final text
   * is written then.
   */
  writesAtOnce?: boolean;
  nowMs: NowMs;
  /**
   * Writes a snapshot to the visible answer.
   * @returns the pause that the platform requests before the next write; undefined for none. Milliseconds
   */
  write(view: ReplyView): Promise<number | undefined>;
  /** Called when a write threw; the snapshot is retried later. */
  onError(error: Error): void;
}

/** Pause after a write that threw. Milliseconds. */
const AFTER_ERROR_MS = SECOND_MS;

/** Progress of a snapshot with text. */
const MAX_PROGRESS = 2;

/** Progress that a snapshot shows: `MAX_PROGRESS` for text, 1 for reasoning, 0 for neither. A status does not count. */
export function progressOf({ text, thinking }: Omit<ReplyView, 'finished'>): number {
  return text !== '' ? MAX_PROGRESS : thinking !== undefined ? 1 : 0;
}

/**
 * Decides when a growing answer is written. The first reasoning and the first text are written in the event-loop turn in
 * which they arrive, later snapshots at the platform's pace. Each write shows the newest complete snapshot;
 * intermediate ones are skipped.
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
  /** Progress of the newest snapshot. */
  #newestProgress = 0;
  #endPause: (() => void) | undefined;
  #endHold: (() => void) | undefined;

  constructor(options: EditThrottleOptions) {
    this.#options = options;
  }

  /** Schedules a snapshot and returns at once. */
  show(view: Omit<ReplyView, 'finished'>): void {
    if (this.#isClosed) return;
    this.#view = view;
    this.#isDirty = true;
    const progress = this.#progressWith(view);
    if (progress > this.#newestProgress) this.#endPause?.();
    this.#newestProgress = progress;
    this.#writing ??= this.#writeWhileDirty().finally(() => (this.#writing = undefined));
  }

  /** Once text is shown, a snapshot is not read before it is written; before that, reasoning is read only once. */
  #progressWith(view: Omit<ReplyView, 'finished'>): number {
    const known = this.#newestProgress;
    if (known === 0) return progressOf(view);
    return known < MAX_PROGRESS && view.text === '' ? known : MAX_PROGRESS;
  }

  /** Stops writing. @returns a promise of the write in progress; undefined if there is none */
  close(): Promise<void> | undefined {
    this.#isClosed = true;
    this.#isDirty = false;
    this.#endPause?.();
    this.#endHold?.();
    return this.#writing;
  }

  async #writeWhileDirty(): Promise<void> {
    const { nowMs, minGapMs, writesAtOnce, write } = this.#options;
    while (this.#isDirty) {
      const isFirst = this.#progress < MAX_PROGRESS && progressOf(this.#view) > this.#progress;
      const paceMs = isFirst ? Number.NEGATIVE_INFINITY : this.#lastWriteMs + minGapMs;
      const pauseMs = Math.max(paceMs, this.#notBeforeMs) - nowMs();
      if (pauseMs > 0) await this.#pause(pauseMs);
      else if (writesAtOnce !== true) await this.#hold();
      if (this.#isClosed) return;
      this.#isDirty = false;
      this.#lastWriteMs = nowMs();
      const view = { ...this.#view, finished: false };
      const waitMs = await write(view).catch((thrown: unknown) => this.#onError(thrown));
      if (waitMs === undefined) this.#progress = Math.max(this.#progress, progressOf(view));
      // After a close, the caller does not wait for a retry of this snapshot.
      if (waitMs === undefined || this.#isOver()) continue;
      this.#notBeforeMs = nowMs() + waitMs;
      this.#isDirty = true;
    }
  }

  #isOver(): boolean {
    return this.#isClosed;
  }

  /** Handles a failed write. No caller awaits a growing snapshot, so a rejection would end the process. */
  #onError(thrown: unknown): number {
    this.#options.onError(asError(thrown));
    return AFTER_ERROR_MS;
  }

  /**
   * Waits until the end of the event-loop turn: if the answer also ends within it, only the final text is written.
   */
  #hold(): Promise<void> {
    return new Promise((resolve) => {
      const immediate = setImmediate(resolve);
      this.#endHold = () => {
        clearImmediate(immediate);
        resolve();
      };
    });
  }

  /** Waits until the pause ends, the first text arrives or the reply is closed. */
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
