import { MINUTE_MS, type NowMs } from '../base/clock.ts';
import { sha256Hex } from '../base/ids.ts';
import { loadScript } from '../base/lua-script.ts';
import { keys, type IdentityStore } from './store.ts';

const countVisit = loadScript(import.meta.url, './scripts/count-visit.lua');

/** Visits of one address to one area of pages in a minute (security.md 3.11). */
const VISITS_PER_MINUTE = 20;

/** The in-memory counter's bound; beyond it counting begins anew. */
const MAX_REMEMBERED = 10_000;

export interface VisitLimit {
  /**
   * Counts a visit.
   * @returns milliseconds to wait when it is one too many, else undefined
   * @throws IdentityError `store_away`, after counting: no page can do its work then, and waiting again would only take longer
   */
  visit(area: 'link' | 'oauth', address: string): Promise<number | undefined>;
}

/** Counts in Redis, and in this process alone while Redis is away. */
export function createVisitLimit(store: IdentityStore, nowMs: NowMs): VisitLimit {
  const countHere = createMemoryCounter();
  return {
    async visit(area, address) {
      const now = nowMs();
      const minute = Math.floor(now / MINUTE_MS);
      const key = keys.visits(area, sha256Hex(address).slice(0, 20), minute);
      const waitFor = (visits: number) => (visits > VISITS_PER_MINUTE ? (minute + 1) * MINUTE_MS - now : undefined);
      try {
        return waitFor(Number(await store.run(countVisit, [key], [2 * MINUTE_MS])));
      } catch (error) {
        const waitMs = waitFor(countHere(key));
        if (waitMs === undefined) throw error;
        return waitMs;
      }
    },
  };
}

function createMemoryCounter(): (key: string) => number {
  let remembered = new Map<string, number>();
  return (key) => {
    if (remembered.size >= MAX_REMEMBERED) remembered = new Map();
    const visits = (remembered.get(key) ?? 0) + 1;
    remembered.set(key, visits);
    return visits;
  };
}
