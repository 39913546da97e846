import type { NowMs } from '../../../shared/clock.ts';
import type { ProtocolTrace } from '../../protocol-trace.ts';

export interface UnreadMessagesOptions {
  trace: ProtocolTrace;
  nowMs: NowMs;
  /** Whether a new subscription gets them once more. That the platform does so was never seen, and nothing promises that it does not. */
  isResent: boolean;
}

const MOST_UNREAD = 100;

/** Messages for which the bot has sent no frame yet: nothing else tells that it has read one. */
export class UnreadMessages {
  readonly #options: UnreadMessagesOptions;
  /** By message, over which connection it was brought; undefined where there was none. */
  readonly #unread = new Map<string, string | undefined>();

  constructor(options: UnreadMessagesOptions) {
    this.#options = options;
  }

  get isResent(): boolean {
    return this.#options.isResent;
  }

  brought(messageId: string, connectionId: string | undefined): void {
    this.#unread.delete(messageId);
    this.#unread.set(messageId, connectionId);
    const [oldest] = this.#unread.keys();
    if (oldest !== undefined && this.#unread.size > MOST_UNREAD) this.#unread.delete(oldest);
    if (connectionId === undefined) this.#miss(messageId, false);
  }

  /** The bot has sent a frame for it. */
  answered(messageId: string): void {
    this.#unread.delete(messageId);
    this.#options.trace.notMissed(messageId);
  }

  /** @returns the messages that were brought over a connection that is gone, and of which nobody knows whether the bot has them */
  leftBy(connectionId: string): string[] {
    const left = [...this.#unread].flatMap(([messageId, over]) => (over === connectionId ? [messageId] : []));
    for (const messageId of left) this.#miss(messageId, true);
    return left;
  }

  /** The messages that a new subscription gets once more. */
  takeResent(): string[] {
    if (!this.#options.isResent) return [];
    return [...this.#unread.keys()];
  }

  #miss(questionId: string, wasBrought: boolean): void {
    this.#options.trace.missed({ questionId, wasBrought, atMs: this.#options.nowMs() });
  }
}
