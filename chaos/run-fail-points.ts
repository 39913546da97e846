import { allWaves, unreachedFailPoints, runWave, type Wave } from './fail-points.ts';
import { isKept, reportOf, traceOf } from './report.ts';

const TRACES_SHOWN = 3;

export interface FailPointsOptions {
  /** How often each point must be reached. */
  lives: number;
  seed: string;
  say(line: string): void;
  /** Defaults to all. */
  waves?: readonly Wave[];
  /** Time limit of a wave's load if a point was not reached. Defaults to one minute plus one per life. */
  loadLimitMs?: number;
}

/**
 * Crashes processes before and after each external call, the given number of times.
 * @returns whether the guarantees were kept in all cases and every point was reached as often as it was armed
 */
export async function runFailPoints(options: FailPointsOptions): Promise<boolean> {
  const { lives, seed, say, waves = allWaves(lives), loadLimitMs = (lives + 1) * 60_000 } = options;
  const startedMs = performance.now();
  const secondsSince = (fromMs: number) => `${Math.round((performance.now() - fromMs) / 1_000)} s`;
  let isAllKept = true;
  for (const [index, wave] of waves.entries()) {
    const waveMs = performance.now();
    const places = wave.flatMap(({ failPoint }) => failPoint?.place ?? []);
    say(`\nwave ${index + 1} of ${waves.length}, each ${lives} times: ${[...new Set(places)].join(', ')}`);
    const run = await runWave(wave, { seed: `${seed} ${index}`, tell: say, loadLimitMs });
    const judged = reportOf(seed, run);
    const missing = unreachedFailPoints(wave, run.ledger);
    for (const { place, timesReached } of missing) say(`NOT REACHED often enough: ${place}, ${timesReached} times`);
    for (const { kind, event, detail } of judged.violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
    for (const { event } of judged.violations.slice(0, TRACES_SHOWN)) say(traceOf(run.ledger, event));
    say(JSON.stringify(judged.report));
    const isWaveKept = isKept(judged) && missing.length === 0;
    say(`wave ${index + 1} ${isWaveKept ? 'kept' : 'BROKEN'} after ${secondsSince(waveMs)}`);
    isAllKept &&= isWaveKept;
  }
  say(`all fail points: ${isAllKept ? 'kept' : 'BROKEN'} after ${secondsSince(startedMs)}`);
  return isAllKept;
}
