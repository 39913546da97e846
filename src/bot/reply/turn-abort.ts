import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';

/** What a turn that ends early may still wait for; an orderly stop keeps three seconds for giving back (queue/close-workers.ts). */
const HAND_OVER_WITHIN_MS = 2 * SECOND_MS;

/**
 * Waits for what is under way when a turn is handed over, but not for longer than a stop has.
 * @returns whether it ended; a failure is an end, since whoever goes on finds it out anyway
 */
export async function endedInTime(underWay: Promise<unknown>): Promise<boolean> {
  const limit = new AbortController();
  const ended = underWay.then(
    () => true,
    () => true,
  );
  const tooLate = pause(HAND_OVER_WITHIN_MS, false, { signal: limit.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([ended, tooLate]);
  } finally {
    limit.abort();
  }
}

/** Resolves once nothing more may be shown. */
export async function shownNoMore(signal: AbortSignal): Promise<void> {
  while (!isOver(signal)) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Whether nothing more may be shown; a person's stop still shows what there is. */
export function isOver(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason !== 'stopped';
}

/** Pauses until the time is over or nothing more may be shown. */
export async function pauseOrEnd(pauseMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) await pause(Math.min(pauseMs, SECOND_MS));
  else await pause(pauseMs, undefined, { signal }).catch(() => undefined);
}
