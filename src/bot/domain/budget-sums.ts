import { loadLibrary } from '../../shared/redis/lua-script.ts';

/** Functions for scripts: what the questions in progress have reserved in a budget. */
export const BUDGET_SUMS = loadLibrary(import.meta.url, './scripts/library/budget-sums.lua', { SUMS_FIELD: 'r' });
