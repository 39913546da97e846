// npm run bench [-- CASE…]: the cost of Parley's hot paths, each compared with an unavoidable floor, in the same run.
// The measured process is pinned to one core and everything else to the other, if taskset exists.
// Prints one JSON line per case, then a table. Only the ratios matter; absolute figures depend on the machine.
import { benchAccept } from './accept.mjs';
import { benchAged } from './aged.mjs';
import { benchAnswers } from './answers.mjs';
import { benchKnowledge } from './knowledge.mjs';
import { benchRelay } from './relay.mjs';
import { benchScale } from './scale.mjs';
import { benchStart } from './start.mjs';

const CASES = {
  accept: benchAccept,
  answers: benchAnswers,
  aged: benchAged,
  knowledge: benchKnowledge,
  relay: benchRelay,
  start: benchStart,
  scale: benchScale,
};

const asked = process.argv.slice(2);
if (asked.includes('--help') || asked.includes('-h')) {
  process.stdout.write(`Usage: npm run bench -- [case…]

Measures the cost of Parley's hot paths, each compared with an unavoidable floor in the same run. Takes minutes and both cores.
Cases: ${Object.keys(CASES).join(', ')}. Defaults to all.

Examples:
  npm run bench
  npm run bench -- accept knowledge
  BENCH_BEFORE=FOLDER npm run bench -- accept answers     compares with an older version, built in another folder
  BENCH_SCENES=flood BENCH_ROUNDS=8 npm run bench -- answers     only one scene, more often
`);
  process.exit(0);
}
const unknown = asked.find((name) => !(name in CASES));
if (unknown !== undefined) {
  process.stderr.write(
    `There is no case ${unknown}; available are ${Object.keys(CASES).join(', ')}. Run npm run bench -- --help for examples.\n`,
  );
  process.exit(2);
}

for (const name of asked.length > 0 ? asked : Object.keys(CASES)) {
  const rows = [];
  await CASES[name]((row) => {
    rows.push(row);
    process.stdout.write(`${JSON.stringify(row)}\n`);
  });
  process.stdout.write('\n');
  console.table(rows.map(({ floor: _floor, ...row }) => row));
}
