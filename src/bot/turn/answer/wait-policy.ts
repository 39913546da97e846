import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import type { WaitPolicy, WaitReason } from '../../model/chat-types.ts';
import type { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { TurnClaim } from '../../domain/turn.ts';

/** Minimum time that any question may wait for the service, even near its maximum age. */
const MIN_WAIT_MS = 30 * SECOND_MS;

/** Status texts shown while the question waits. */
export const WAIT_TEXTS: Readonly<Record<WaitReason, keyof typeof TURN_TEXTS>> = {
  capacity: 'waitsForCapacity',
  reach: 'waitsForService',
  loading: 'waitsForModel',
};

/** Lets a question wait for the service up to its maximum age; the oldest question has priority. */
export function waitPolicyOf(turn: TurnClaim, maxAgeMs: number, waits: WaitPolicy['waits']): WaitPolicy {
  const nowMs = monotonicMs();
  const askedAtMs = turn.claimedAtMs - turn.newestAgeMs;
  const untilMs = turn.claimedAtMs - turn.chargedAgeMs + maxAgeMs;
  return { askedAtMs, untilMs: Math.max(untilMs, nowMs + MIN_WAIT_MS), waits };
}
