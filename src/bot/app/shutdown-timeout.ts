/** Part of the grace period reserved for handing over unfinished turns (SECURITY.md orderly-stop). */
const HANDOVER_RESERVE_SEC = 5;

/** Seconds of the grace period for which a stop lets running answers continue. */
export function turnsGraceSec(graceSec: number): number {
  return Math.max(0, graceSec - HANDOVER_RESERVE_SEC);
}
