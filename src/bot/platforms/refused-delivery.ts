import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { Delivery } from './platform.ts';

/** How far the time that a delivery names lies from ours, in whole seconds; undefined where it is no time. */
export function secondsOff(timestamp: string | null | undefined, nowMs: NowMs): number | undefined {
  if (!/^\d{1,12}$/.test(timestamp ?? '')) return undefined;
  return Math.round(Math.abs(nowMs() / SECOND_MS - Number(timestamp)));
}

/** A delivery that is refused; where its time is the reason, with how far off that is. */
export function refusedFor(
  reason: string,
  timestamp: string | null,
  nowMs: NowMs,
): Extract<Delivery, { kind: 'refused' }> {
  const offSec = reason === 'outside the time window' ? secondsOff(timestamp, nowMs) : undefined;
  return { kind: 'refused', status: 401, reason, offSec };
}
