/** Of the grace time this much is kept for handing over what did not end (SECURITY.md orderly-stop). */
const HANDOVER_RESERVE_SEC = 5;

/** How long a stop lets answers under way run, of the whole grace time. Seconds. */
export function turnsGraceSec(graceSec: number): number {
  return Math.max(0, graceSec - HANDOVER_RESERVE_SEC);
}
