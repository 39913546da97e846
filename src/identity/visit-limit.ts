import { MINUTE_MS, type NowMs } from '../base/clock.ts';
import { sha256Hex } from '../base/ids.ts';
import { loadScript } from '../base/lua-script.ts';
import { isIdentityError } from './identity-error.ts';
import { keys, type IdentityStore } from './store.ts';

const countVisit = loadScript(import.meta.url, './scripts/count-visit.lua');

/** Visits of one address to one area of pages in a minute (security.md 3.11). */
export const VISITS_PER_MINUTE = 20;

/** The in-memory counter's bound; beyond it the oldest minute's counts are dropped together. */
const MAX_REMEMBERED = 10_000;

export interface VisitLimit {
  /** Counts a visit. @returns milliseconds to wait when it is one too many, else undefined */
  visit(area: 'link' | 'oauth', address: string): Promise<number | undefined>;
}

/** Counts in Redis, and in this process alone while Redis is away. */
export function createVisitLimit(store: IdentityStore, nowMs: NowMs): VisitLimit {
  let remembered = new Map<string, number>();
  const countHere = (key: string): number => {
    if (remembered.size >= MAX_REMEMBERED) remembered = new Map();
    const visits = (remembered.get(key) ?? 0) + 1;
    remembered.set(key, visits);
    return visits;
  };
  return {
    async visit(area, address) {
      const now = nowMs();
      const minute = Math.floor(now / MINUTE_MS);
      const key = keys.visits(area, sha256Hex(address).slice(0, 20), minute);
      const visits = await store.run(countVisit, [key], [2 * MINUTE_MS]).then(Number, (error: unknown) => {
        if (isIdentityError(error, 'store_away')) return countHere(key);
        throw error;
      });
      return visits > VISITS_PER_MINUTE ? (minute + 1) * MINUTE_MS - now : undefined;
    },
  };
}
