import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { Delivery } from './platform.ts';

/** Difference between a delivery's timestamp and our clock, in whole seconds; undefined if it is not a timestamp. */
export function clockSkewSec(timestamp: string | null | undefined, nowMs: NowMs): number | undefined {
  if (!/^\d{1,12}$/.test(timestamp ?? '')) return undefined;
  return Math.round(Math.abs(nowMs() / SECOND_MS - Number(timestamp)));
}

/** Builds a refused delivery, with the clock difference if that is the reason. */
export function refusedDelivery(
  reason: string,
  timestamp: string | null,
  nowMs: NowMs,
): Extract<Delivery, { kind: 'refused' }> {
  const offSec = reason === 'outside the time window' ? clockSkewSec(timestamp, nowMs) : undefined;
  return { kind: 'refused', status: 401, reason, offSec };
}
