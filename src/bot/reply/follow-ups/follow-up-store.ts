import { loadScript } from '../../../shared/redis/lua-script.ts';
import { monotonicMs } from '../../../shared/clock.ts';
import { followUpKeyPrefix, followUpsKey, messageKey } from '../../domain/partition-keys.ts';
import { asDeliveryId, type DeliveryId } from '../../domain/ids.ts';
import type { RedisClient } from '../../../shared/redis/redis.ts';
import { FENCE_VALID_MS } from '../../platforms/platform.ts';
import type { StoredProgress } from './progress.ts';

const takeScript = loadScript(import.meta.url, './scripts/take-follow-ups.lua', {
  keys: ['due'],
  args: ['followUpPrefix', 'claim', 'heldMs', 'limit'],
  rows: { deliveryId: 'text', sealed: 'text', ageMs: 'number', state: 'text', parts: 'text' },
});
const holdScript = loadScript(import.meta.url, './scripts/hold-follow-up.lua', {
  keys: ['due', 'followUp'],
  args: ['deliveryId', 'claim', 'heldMs', 'state', 'parts'],
  answer: 'flag',
});
const endScript = loadScript(import.meta.url, './scripts/end-follow-up.lua', {
  keys: ['due', 'followUp', 'record'],
  args: ['deliveryId', 'claim', 'delivery'],
  answer: 'flag',
});

/** A follow-up that a worker has claimed. */
export interface ClaimedFollowUp {
  /** Delivery id of the answered message. */
  deliveryId: DeliveryId;
  sealed: string;
  /** Time from the commit to the claim, by Redis' clock. Milliseconds. */
  ageMs: number;
  /** Progress so far; empty before the first try. */
  progress: StoredProgress;
}

/** The follow-ups of one partition, under one claim. */
export interface FollowUpStore {
  /** Claims due follow-ups. @param heldMs how long no other worker can claim them */
  take(heldMs: number, limit: number): Promise<ClaimedFollowUp[]>;
  /**
   * Records the progress. @returns false if another worker has claimed the follow-up or it has ended; nothing may be sent
   * then
   */
  hold(taken: ClaimedFollowUp, heldMs: number, progress: StoredProgress): Promise<boolean>;
  /** @returns whether this call ended the follow-up */
  end(taken: ClaimedFollowUp, delivery: string): Promise<boolean>;
}

interface StoreOptions {
  redis: RedisClient;
  partition: number;
  /** Unique name of this claim. */
  claim: string;
}

export function createFollowUpStore({ redis, partition, claim }: StoreOptions): FollowUpStore {
  const due = followUpsKey(partition);
  const keyOf = ({ deliveryId }: ClaimedFollowUp) => followUpKeyPrefix(partition) + deliveryId;
  return {
    async take(heldMs, limit) {
      const args = { followUpPrefix: followUpKeyPrefix(partition), claim, heldMs, limit };
      const rows = await takeScript.run(redis, { due }, args);
      return rows.map(({ state, parts, deliveryId, ...taken }) => ({
        ...{ ...taken, deliveryId: asDeliveryId(deliveryId) },
        progress: { state, parts },
      }));
    },
    async hold(taken, heldMs, progress) {
      for (;;) {
        const askedMs = monotonicMs();
        const { state, parts } = progress;
        const args = { deliveryId: taken.deliveryId, claim, heldMs, state, parts };
        if (!(await holdScript.run(redis, { due, followUp: keyOf(taken) }, args))) return false;
        // The process may have been frozen before the result arrived, and another worker may have claimed the follow-up.
        if (monotonicMs() - askedMs < FENCE_VALID_MS) return true;
      }
    },
    async end(taken, delivery) {
      const { deliveryId } = taken;
      const keys = { due, followUp: keyOf(taken), record: messageKey(partition, deliveryId) };
      return endScript.run(redis, keys, { deliveryId, claim, delivery });
    },
  };
}
