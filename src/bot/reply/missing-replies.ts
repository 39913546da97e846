import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Replies that were polled for and of which Redis knows nothing. */
export interface MissingReplies {
  /** Whether a reply that nobody knows may still turn up: told of each poll for it. */
  mayTurnUp(replyId: DeliveryId): boolean;
}

/**
 * After a failover, or a restored copy, the new Redis may not know a message until the receiver that acknowledged it has stored
 * it again, while polls come to any receiver: one that was told "no longer available" by then is never asked again.
 */
const TURNS_UP_WITHIN_MS = MINUTE_MS;
/** Beyond this the oldest is forgotten, and waited for once more if it is polled for again. */
const MOST_REMEMBERED = 10_000;

/** Remembers since when each missing reply has been polled for. @param nowMs of the monotonic clock */
export function createMissingReplies(nowMs: () => number = monotonicMs): MissingReplies {
  const missingSinceMs = new Map<string, number>();
  return {
    mayTurnUp(replyId) {
      const sinceMs = missingSinceMs.get(replyId);
      if (sinceMs !== undefined) return nowMs() - sinceMs < TURNS_UP_WITHIN_MS;
      const [oldest] = missingSinceMs.keys();
      if (oldest !== undefined && missingSinceMs.size >= MOST_REMEMBERED) missingSinceMs.delete(oldest);
      missingSinceMs.set(replyId, nowMs());
      return true;
    },
  };
}
