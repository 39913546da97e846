// npm run chaos [-- --minutes N --seed S --rate R --kills-per-minute K --logs FOLDER]: kills, freezes and cuts parts under load, then
// judges the ledger; `--fail-points [--times N]` instead lets processes die around each call to the outside. Exit 0 when nothing was lost, repeated or out of order. The same seed deals the same faults.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recoveryTimes } from './recovery.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runFailPoints } from './run-fail-points.ts';
import { runChaos } from './run-chaos.ts';
import { plainParts } from './world.ts';

const TRACES_SHOWN = 5;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    rate: { type: 'string', default: '20' },
    'kills-per-minute': { type: 'string', default: '22' },
    receivers: { type: 'string', default: '2' },
    workers: { type: 'string', default: '4' },
    logs: { type: 'string' },
    'fail-points': { type: 'boolean', default: false },
    times: { type: 'string', default: '20' },
  },
});
const { seed } = values;
const say = (line: string) => void process.stdout.write(`${line}\n`);

say(`seed ${seed}`);
const isAllKept = values['fail-points'] ? await runFailPoints(Number(values.times), seed, say) : await runFaults();
process.exitCode = isAllKept ? 0 : 1;

async function runFaults(): Promise<boolean> {
  const run = await runChaos({
    seed,
    loadMs: Number(values.minutes) * 60_000,
    ratePerSec: Number(values.rate),
    killsPerMinute: Number(values['kills-per-minute']),
    parts: plainParts(Number(values.receivers), Number(values.workers)),
    freezeMs: 15_000,
    chatFails: 'also-stalls',
    tell: say,
    ...(values.logs === undefined ? {} : { logFolder: values.logs }),
  });
  if (values.logs !== undefined) writeFileSync(join(values.logs, 'ledger.json'), JSON.stringify(run.ledger));
  const judged = reportOf(seed, run);
  const { report, violations } = judged;
  for (const { kind, event, detail } of violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
  for (const id of [...new Set(violations.map(({ event }) => event))]
    .filter((event) => event > 0)
    .slice(0, TRACES_SHOWN))
    say(`\n${traceOf(run.ledger, id)}`);
  const [slowest] = recoveryTimes(run.ledger, 'kill').sort((left, right) => right.ms - left.ms);
  if (slowest) say(`\nThe slowest recovery, ${slowest.ms} ms:\n${traceOf(run.ledger, slowest.event)}`);
  say('');
  for (const [name, value] of Object.entries(report))
    say(`${name.padEnd(16)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  say(JSON.stringify(report));
  return isKept(judged);
}
