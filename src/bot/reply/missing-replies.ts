import { MINUTE_MS, monotonicMs } from '../../shared/clock.ts';
import type { DeliveryId } from '../domain/ids.ts';

/** Replies that the platform polls for but Redis does not have. */
export interface MissingReplies {
  /** Whether an unknown reply may still appear. Called for each poll of it. */
  mayStillAppear(replyId: DeliveryId): boolean;
}

/**
 * How long an unknown reply may still appear. After a failover or a restore from backup, Redis may not have a message until
 * the receiver that acknowledged it has stored it again, while polls reach any receiver. Answering a poll with "no longer
 * available" before then would end the polling.
 */
const TURNS_UP_WITHIN_MS = MINUTE_MS;
/** Maximum remembered replies. The oldest is dropped; if it is polled again, its waiting time restarts. */
const MAX_REMEMBERED = 10_000;

/** Remembers when each missing reply was first polled. @param nowMs monotonic clock */
export function createMissingReplies(nowMs: () => number = monotonicMs): MissingReplies {
  const missingSinceMs = new Map<string, number>();
  return {
    mayStillAppear(replyId) {
      const sinceMs = missingSinceMs.get(replyId);
      if (sinceMs !== undefined) return nowMs() - sinceMs < TURNS_UP_WITHIN_MS;
      const [oldest] = missingSinceMs.keys();
      if (oldest !== undefined && missingSinceMs.size >= MAX_REMEMBERED) missingSinceMs.delete(oldest);
      missingSinceMs.set(replyId, nowMs());
      return true;
    },
  };
}
