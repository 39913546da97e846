import { allWaves, missingStrikes, runWave } from './fail-points.ts';
import { isKept, reportOf, traceOf } from './report.ts';

const TRACES_SHOWN = 3;

/** Lets processes die before and after each call to the outside, each so often. @returns whether the promise was kept in all */
export async function runFailPoints(lives: number, seed: string, say: (line: string) => void): Promise<boolean> {
  let isAllKept = true;
  for (const [index, wave] of allWaves(lives).entries()) {
    const places = wave.flatMap(({ failPoint }) => failPoint?.place ?? []);
    say(`\nwave ${index + 1}, each ${lives} times: ${[...new Set(places)].join(', ')}`);
    const run = await runWave(wave, { seed: `${seed} ${index}`, tell: say, loadLimitMs: 60_000 + lives * 60_000 });
    const judged = reportOf(seed, run);
    const missing = missingStrikes(wave, run.ledger);
    for (const { place, struck } of missing) say(`NOT REACHED often enough: ${place}, ${struck} times`);
    for (const { kind, event, detail } of judged.violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
    for (const { event } of judged.violations.slice(0, TRACES_SHOWN)) say(traceOf(run.ledger, event));
    say(JSON.stringify(judged.report));
    isAllKept &&= isKept(judged) && missing.length === 0;
  }
  return isAllKept;
}
