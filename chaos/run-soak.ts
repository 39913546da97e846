import { judgeSoak, LONG_BOUNDS } from './judge-soak.ts';
import type { ChaosCommand } from './options.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runSoak } from './soak.ts';

const ROUND_MINUTES = 10;
const RATE_PER_SEC = 5;
const KILLS_PER_MINUTE = 4;
const SLOW_FAULTS_PER_MINUTE = 6;
const TRACES_SHOWN = 5;

/**
 * Runs a soak test in rounds of ten minutes (at least two rounds) and prints the figures. @returns whether all guarantees
 * and bounds were kept
 */
export async function soak({ minutes, seed, slow }: ChaosCommand, say: (line: string) => void): Promise<boolean> {
  const rounds = Math.max(2, Math.round(minutes / ROUND_MINUTES));
  const roundMs = (minutes / rounds) * 60_000;
  const soaked = await runSoak({
    ...{ seed, rounds, roundMs, tell: say },
    ...{ ratePerSec: RATE_PER_SEC, killsPerMinute: KILLS_PER_MINUTE },
    // A stop may coincide with a held link or a freeze.
    ...(slow ? { slowFaultsPerMinute: SLOW_FAULTS_PER_MINUTE, clocksStep: true, stopLimitMs: 60_000 } : {}),
  });
  const judged = reportOf(seed, soaked.run);
  for (const { kind, event, detail } of judged.violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
  for (const { event } of judged.violations.slice(0, TRACES_SHOWN)) say(traceOf(soaked.run.ledger, event));
  const broken = judgeSoak(soaked, LONG_BOUNDS);
  for (const sentence of broken) say(`BROKEN BOUND: ${sentence}`);
  say('');
  for (const [index, measurement] of soaked.measurements.entries())
    for (const [name, signs] of Object.entries(measurement)) {
      const [heapMb, rssMb] = [signs.heapBytes, signs.rssBytes].map((bytes) => (bytes / 1_000_000).toFixed(2));
      const minute = (((index + 1) * roundMs) / 60_000).toFixed(1);
      const handles = `${signs.fileDescriptors} file descriptors, ${JSON.stringify(signs.resources)}`;
      say(`minute ${minute}  ${name.padEnd(10)} heap ${heapMb} MB, RSS ${rssMb} MB, ${handles}`);
    }
  for (const [when, census] of Object.entries(soaked.keys))
    for (const [kind, { count, endless }] of Object.entries(census).sort(([left], [right]) => (left < right ? -1 : 1)))
      say(`keys ${when.padEnd(6)}  ${kind.padEnd(28)} ${count}${endless > 0 ? `, ${endless} without an end` : ''}`);
  say(JSON.stringify({ ...judged.report, measurements: soaked.measurements, keys: soaked.keys }));
  return isKept(judged) && broken.length === 0;
}
