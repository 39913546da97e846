/** Returns the time in milliseconds since the epoch. Passed in wherever time matters, so that tests control it. */
export type NowMs = () => number;

/**
 * Monotonic clock, unaffected by changes to the system clock. Only for durations within this process; never store its
 * values.
 */
export const monotonicMs: NowMs = () => performance.now();

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const YEAR_SEC = (365 * DAY_MS) / SECOND_MS;

export const KIB_BYTES = 1_024;
export const MIB_BYTES = 1_024 * KIB_BYTES;
