import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import type { QueueReport } from './queue-report.ts';
import type { ConversationId } from '../domain/ids.ts';

/** The sweeper wakes what waits every ten to fifteen seconds; what was not met for so long is answered elsewhere. */
const FORGET_AFTER_MS = MINUTE_MS;
const MOST_REMEMBERED = 10_000;

/** Which conversations wait for a key that this process lacks, as far as it has met them: for `/readyz`, the log and a count. */
export class MissingKeys {
  readonly #report: Pick<QueueReport, 'keyMissing'>;
  readonly #waiting = new Map<ConversationId, { keyId: string; metMs: number }>();

  constructor(report: Pick<QueueReport, 'keyMissing'>) {
    this.#report = report;
  }

  note(conversationId: ConversationId, keyId: string): void {
    // Taken out first, so that the map's order is the order of meeting.
    this.#waiting.delete(conversationId);
    this.#waiting.set(conversationId, { keyId, metMs: monotonicMs() });
    if (this.#waiting.size > MOST_REMEMBERED) this.#forget();
    this.#report.keyMissing({ keyId, waiting: this.#waiting.size });
  }

  /** This conversation can be read. */
  found(conversationId: ConversationId): void {
    if (this.#waiting.size > 0) this.#waiting.delete(conversationId);
  }

  /** What the operator has to do; undefined when nothing is known to wait. */
  sentence(): string | undefined {
    this.#forget();
    if (this.#waiting.size === 0) return undefined;
    const keyIds = [...new Set([...this.#waiting.values()].map(({ keyId }) => keyId))].slice(0, 5);
    return (
      `${this.#waiting.size} conversations wait for key ${keyIds.join(', ')}, which this process lacks: ` +
      'put the former key into SECRET_KEY_PREVIOUS (or back into SECRET_KEY) and restart; nothing is lost meanwhile'
    );
  }

  #forget(): void {
    const oldestMs = monotonicMs() - FORGET_AFTER_MS;
    for (const [id, { metMs }] of this.#waiting) {
      if (metMs >= oldestMs && this.#waiting.size <= MOST_REMEMBERED) break;
      this.#waiting.delete(id);
    }
  }
}
