import type { AskedCounts } from './schedule.ts';
import type { ChaosReport } from './report.ts';

/** What a run must contain for its verdict to be meaningful, and how fast the product must recover. */
export interface Goals extends AskedCounts {
  /** Accepted events. */
  events?: number;
  /** Limit for the 99th percentile of the time from the last kill that affected an answer until it is visible. */
  recoveryP99Ms: number;
  /** The same for answers whose first post was in doubt. */
  doubtfulP99Ms: number;
}

/** "Answer restarts within 20 s after a worker dies". */
const RECOVERY_P99_MS = 20_000;
/**
 * Another worker takes over within 12 s, and Slack may execute a post up to 34 s after it was recorded; the rest is for the
 * answer.
 */
const DOUBTFUL_P99_MS = 50_000;
export const RECOVERY_GOALS = { recoveryP99Ms: RECOVERY_P99_MS, doubtfulP99Ms: DOUBTFUL_P99_MS };

/** @returns one sentence per missed goal */
export function missedGoals(report: ChaosReport, goals: Goals): string[] {
  const { events = 0, kills = 0, freezes = 0, stops = 0, recoveryP99Ms, doubtfulP99Ms } = goals;
  const tooFew = (what: string, had: number, asked: number) => (had < asked ? [`${had} ${what}, asked: ${asked}`] : []);
  const tooSlow = (what: string, { turns, p99 }: ChaosReport['recoveryMs'], promisedMs: number) =>
    turns > 0 && p99 > promisedMs ? [`${what} p99 is ${p99} ms, promised: ${promisedMs} ms`] : [];
  return [
    ...tooFew('accepted events', report.accepted, events),
    ...tooFew('kills', report.kills, kills),
    ...tooFew('whole freezes of workers', report.freezes.ofWorkers, freezes),
    ...tooFew('orderly stops of workers', report.stops.ofWorkers, stops),
    ...tooSlow('recovery', report.recoveryMs, recoveryP99Ms),
    ...tooSlow('recovery in doubt', report.doubtfulMs, doubtfulP99Ms),
  ];
}
