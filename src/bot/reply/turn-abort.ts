import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../shared/clock.ts';

/** Maximum wait of a turn that ends early. An orderly stop reserves 3 s for releasing turns (queue/close-workers.ts). */
const HAND_OVER_WITHIN_MS = 2 * SECOND_MS;

/**
 * Waits for the work in progress when a turn is released, at most as long as a stop allows.
 * @returns whether it ended; a failure counts as an end, since the next worker finds it anyway
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
export async function untilSuperseded(signal: AbortSignal): Promise<void> {
  while (!isSuperseded(signal))
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/** Whether nothing more may be shown. After a person's stop command the existing text is still shown. */
export function isSuperseded(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason !== 'stopped';
}

/** Pauses for the given time, or until nothing more may be shown. */
export async function pauseUnlessSuperseded(pauseMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) await pause(Math.min(pauseMs, SECOND_MS));
  else await pause(pauseMs, undefined, { signal }).catch(() => undefined);
}
