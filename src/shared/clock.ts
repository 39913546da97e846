/** Tells the time in milliseconds since the epoch. Passed in wherever time decides, so that tests move it by hand. */
export type NowMs = () => number;

/** Counts on evenly, whatever becomes of the machine's clock: for lengths of time within this process, and for nothing that is stored. */
export const monotonicMs: NowMs = () => performance.now();

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const YEAR_SEC = (365 * DAY_MS) / SECOND_MS;

export const KIB_BYTES = 1_024;
export const MIB_BYTES = 1_024 * KIB_BYTES;
