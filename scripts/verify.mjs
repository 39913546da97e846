// All checks that must pass before a change is merged; CI runs the same. All steps run, so that one run shows every failure.
// `npm run verify` has compiled the sources before (scripts/prepare.mjs).
import { spawn } from 'node:child_process';

/**
 * The checks of the sources use the time in which the tests wait. Each list runs in turn, with the lowest priority, so that
 * the tests are as fast as alone.
 */
const BESIDE_THE_TESTS = [
  [['lint', 'oxlint', ['--max-warnings=0']]],
  [
    ['types', 'tsc', ['-p', 'tsconfig.json', '--noEmit']],
    ['format', 'prettier', ['--check', '.']],
    ['types of the page', 'tsc', ['-p', 'src/simulator/web/tsconfig.json', '--noEmit']],
    ['unused code', 'knip', []],
  ],
];
const TESTS = ['tests', 'npm', ['run', 'test:all', '--', '--ci']];

/** Runs a program, and shows its output while it runs. @returns its result, and what it printed if it is not shown */
async function run([name, program, args], stdio = 'inherit') {
  const startedAtMs = Date.now();
  const child = spawn(program, args, { stdio: ['ignore', stdio, stdio] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => said.push(piece));
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1);
  return { name, isPassed: status === 0, seconds, output: Buffer.concat(said).toString() };
}

async function runInTurn(steps) {
  const results = [];
  for (const [name, program, args] of steps)
    results.push(await run([name, 'nice', ['-n', '19', `node_modules/.bin/${program}`, ...args]], 'pipe'));
  return results;
}

const [tests, ...checks] = await Promise.all([run(TESTS), ...BESIDE_THE_TESTS.map(runInTurn)]);
const results = [...checks.flat(), tests];
for (const { name, output } of results) if (output !== '') console.log(`\n--- ${name}\n${output}`);

console.log('');
for (const { name, isPassed, seconds } of results)
  console.log(`${isPassed ? 'ok   ' : 'FAULT'}  ${name} (${seconds} s)`);
process.exitCode = results.every(({ isPassed }) => isPassed) ? 0 : 1;
