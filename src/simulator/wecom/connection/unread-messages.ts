import type { ProtocolTrace } from '../../protocol-trace.ts';

export interface UnreadMessagesOptions {
  trace: ProtocolTrace;
  /** Whether a new subscription receives them again. The platform has never been seen to do so, but does not rule it out. */
  isResent: boolean;
}

const MAX_UNREAD = 100;

/** Messages for which the bot has sent no frame yet, which is the only sign that it has read one. */
export class UnreadMessages {
  readonly #options: UnreadMessagesOptions;
  /** The connection that each message was sent over; undefined if there was none. */
  readonly #unread = new Map<string, string | undefined>();

  constructor(options: UnreadMessagesOptions) {
    this.#options = options;
  }

  get isResent(): boolean {
    return this.#options.isResent;
  }

  recordSent(messageId: string, connectionId: string | undefined): void {
    this.#unread.delete(messageId);
    this.#unread.set(messageId, connectionId);
    const [oldest] = this.#unread.keys();
    if (oldest !== undefined && this.#unread.size > MAX_UNREAD) this.#unread.delete(oldest);
    if (connectionId === undefined) this.#miss(messageId, false);
  }

  /** Records that the bot has sent a frame for the message. */
  recordAnswered(messageId: string): void {
    this.#unread.delete(messageId);
    this.#options.trace.notMissed(messageId);
  }

  /** @returns the messages sent over a closed connection that the bot may not have received */
  unreadOf(connectionId: string): string[] {
    const left = [...this.#unread].flatMap(([messageId, over]) => (over === connectionId ? [messageId] : []));
    for (const messageId of left) this.#miss(messageId, true);
    return left;
  }

  /** Messages that a new subscription receives again. */
  takeResent(): string[] {
    if (!this.#options.isResent) return [];
    return [...this.#unread.keys()];
  }

  #miss(questionId: string, wasBrought: boolean): void {
    this.#options.trace.recordMissed({ questionId, wasBrought });
  }
}
