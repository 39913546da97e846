// npm run chaos [-- --minutes N --seed S --rate R --kills-per-minute K --logs FOLDER]: kills, freezes and cuts parts under load, then
// judges the ledger. Exit 0 when nothing was lost, repeated or out of order. The same seed deals the same faults.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { recoveryTimes } from './recovery.ts';
import { isKept, reportOf, traceOf } from './report.ts';
import { runChaos } from './run-chaos.ts';

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
  },
});
const { seed } = values;
const say = (line: string) => void process.stdout.write(`${line}\n`);

say(`seed ${seed}`);
const run = await runChaos({
  seed,
  loadMs: Number(values.minutes) * 60_000,
  ratePerSec: Number(values.rate),
  killsPerMinute: Number(values['kills-per-minute']),
  receivers: Number(values.receivers),
  workers: Number(values.workers),
  freezeMs: 15_000,
  chatFails: 'also-stalls',
  tell: say,
  ...(values.logs === undefined ? {} : { logFolder: values.logs }),
});
const judged = reportOf(seed, run);
const { report, violations } = judged;
for (const { kind, event, detail } of violations) say(`${kind.toUpperCase()} Q${event}: ${detail}`);
for (const id of [...new Set(violations.map(({ event }) => event))].filter((event) => event > 0).slice(0, TRACES_SHOWN))
  say(`\n${traceOf(run.ledger, id)}`);
const [slowest] = recoveryTimes(run.ledger, 'kill').sort((left, right) => right.ms - left.ms);
if (slowest) say(`\nThe slowest recovery, ${slowest.ms} ms:\n${traceOf(run.ledger, slowest.event)}`);
say('');
for (const [name, value] of Object.entries(report))
  say(`${name.padEnd(16)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
say(JSON.stringify(report));
process.exitCode = isKept(judged) ? 0 : 1;
