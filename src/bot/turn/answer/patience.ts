import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import type { Patience, WaitReason } from '../../model/chat-types.ts';
import type { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { TurnContext } from '../turn-context.ts';

/** A question that waited longer gets an apology instead of a surprise (SECURITY.md in-order). */
export const OLDEST_QUESTION_MS = 10 * MINUTE_MS;
/** A question that is asked late in its age may still wait this long for the service. */
const MIN_WAIT_MS = 30 * SECOND_MS;

/** What a person reads while the question waits. */
export const WAIT_TEXTS: Readonly<Record<WaitReason, keyof typeof TURN_TEXTS>> = {
  capacity: 'waitsForCapacity',
  reach: 'waitsForService',
  loading: 'waitsForModel',
};

/** A question may wait for the service within its age; the oldest question goes first. */
export function patienceOf({ turn }: Pick<TurnContext, 'turn'>, waits: Patience['waits']): Patience {
  const nowMs = monotonicMs();
  const askedAtMs = turn.claimedAtMs - turn.newestAgeMs;
  return { askedAtMs, untilMs: Math.max(askedAtMs + OLDEST_QUESTION_MS, nowMs + MIN_WAIT_MS), waits };
}
