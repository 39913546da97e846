import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import type { QueueReport } from './queue-report.ts';
import type { ConversationId } from '../domain/ids.ts';

/**
 * The sweeper wakes waiting conversations every 10 to 15 seconds. If this process does not meet one for this long, another
 * worker has answered it.
 */
const FORGET_AFTER_MS = MINUTE_MS;
const MAX_REMEMBERED = 10_000;

/**
 * Conversations that this process has met and that wait for a key it does not have. Shown in `/readyz`, the log and a
 * metric.
 */
export class MissingKeys {
  readonly #report: Pick<QueueReport, 'keyMissing'>;
  readonly #waiting = new Map<ConversationId, { keyId: string; metMs: number }>();

  constructor(report: Pick<QueueReport, 'keyMissing'>) {
    this.#report = report;
  }

  note(conversationId: ConversationId, keyId: string): void {
    // Deleted first, so that the map is ordered by the last meeting.
    this.#waiting.delete(conversationId);
    this.#waiting.set(conversationId, { keyId, metMs: monotonicMs() });
    if (this.#waiting.size > MAX_REMEMBERED) this.#forget();
    this.#report.keyMissing({ keyId, waiting: this.#waiting.size });
  }

  /** The conversation can be read now. */
  found(conversationId: ConversationId): void {
    if (this.#waiting.size > 0) this.#waiting.delete(conversationId);
  }

  /** What the operator has to do. Undefined if no conversation is known to wait. */
  sentence(): string | undefined {
    this.#forget();
    if (this.#waiting.size === 0) return undefined;
    const keyIds = [...new Set([...this.#waiting.values()].map(({ keyId }) => keyId))].slice(0, 5);
    return (
      `${this.#waiting.size} conversations wait for key ${keyIds.join(', ')}, which this process does not have: ` +
      'set the former key in SECRET_KEY_PREVIOUS (or SECRET_KEY) and restart; nothing is lost until then'
    );
  }

  #forget(): void {
    const oldestMs = monotonicMs() - FORGET_AFTER_MS;
    for (const [id, { metMs }] of this.#waiting) {
      if (metMs >= oldestMs && this.#waiting.size <= MAX_REMEMBERED) break;
      this.#waiting.delete(id);
    }
  }
}
