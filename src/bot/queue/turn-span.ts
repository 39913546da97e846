import type { NowMs } from '../../shared/clock.ts';
import { inSpan, recordSpan } from '../../shared/tracing/tracing.ts';
import type { TurnClaim } from '../domain/turn.ts';

/**
 * Runs a claimed turn in its span, which continues the trace of the newest message. The wait in the queue and the claim are
 * recorded beside it: their trace is known only now. Merged messages are linked.
 */
export function inTurnSpan<Result>(
  claim: TurnClaim,
  { claimMs, nowMs }: { claimMs: number; nowMs: NowMs },
  run: () => Promise<Result>,
): Promise<Result> {
  const parents = claim.messages.flatMap(({ message }) => message.traceparent ?? []);
  const parent = claim.messages.at(-1)?.message.traceparent;
  const claimedAtMs = nowMs();
  const sentAtMs = claimedAtMs - claimMs;
  const arrivedAtMs = Math.min(sentAtMs, claimedAtMs - claim.newestAgeMs);
  // Without a parent the trace begins with the turn.
  if (parent !== undefined) {
    recordSpan('wait in queue', { kind: 'consumer', parent, startedAtMs: arrivedAtMs, endedAtMs: sentAtMs });
    recordSpan('claim', { parent, startedAtMs: sentAtMs, endedAtMs: claimedAtMs });
  }
  const attributes = {
    'parley.delivery': claim.turnId,
    'parley.messages': claim.messages.length,
    'parley.crashes': claim.crashes,
  };
  const links = parents.filter((one) => one !== parent);
  return inSpan('turn', { kind: 'consumer', parent, links, attributes }, run);
}
