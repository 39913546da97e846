import { HOUR_MS } from '../../shared/clock.ts';

/** How long the mark of a cleared summary stands in its place: far beyond any summary that is being made. */
export const CLEARED_MARK_MS = HOUR_MS;
