import { HOUR_MS } from '../../shared/clock.ts';

/** Life of the mark that replaces a cleared summary. Much longer than a summary takes to write. */
export const CLEARED_MARK_MS = HOUR_MS;
