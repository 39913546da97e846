// All checks that must pass before a change is merged; CI runs the same. All steps run, so that one run shows every failure.
import { spawn } from 'node:child_process';

/** One core each: the longest step alone, and the others one after another. */
const SIDE_BY_SIDE = [
  [['lint', 'npx', ['eslint', '--max-warnings=0', '.']]],
  [
    ['format', 'npx', ['prettier', '--check', '.']],
    ['types', 'npx', ['tsc', '-p', 'tsconfig.json', '--noEmit']],
    ['types of the page', 'npx', ['tsc', '-p', 'tsconfig.page.json', '--noEmit']],
    ['unused code', 'npx', ['knip']],
    ['build', 'node', ['scripts/build.mjs']],
  ],
];
const TESTS = ['tests', 'npm', ['run', 'test:all', '--', '--ci']];

/** A step's output is printed together when it has ended, unless it `isLive`. */
async function run([name, program, args], isLive = false) {
  const startedAtMs = Date.now();
  if (isLive) console.log(`\n--- ${name}`);
  const child = spawn(program, args, { stdio: ['ignore', ...(isLive ? ['inherit', 'inherit'] : ['pipe', 'pipe'])] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (piece) => said.push(piece));
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (!isLive) console.log(`\n--- ${name}\n${Buffer.concat(said)}`);
  return { name, isPassed: status === 0, seconds: ((Date.now() - startedAtMs) / 1_000).toFixed(1) };
}

async function runInTurn(steps) {
  const results = [];
  for (const step of steps) results.push(await run(step));
  return results;
}

const results = (await Promise.all(SIDE_BY_SIDE.map(runInTurn))).flat();
results.push(await run(TESTS, true));

console.log('');
for (const { name, isPassed, seconds } of results)
  console.log(`${isPassed ? 'ok   ' : 'FAULT'}  ${name} (${seconds} s)`);
process.exitCode = results.every(({ isPassed }) => isPassed) ? 0 : 1;
