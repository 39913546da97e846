// All that must hold before a change is merged; CI runs the same. Every step runs, so that one look shows all faults.
import { spawnSync } from 'node:child_process';

const STEPS = [
  ['format', 'npx', ['prettier', '--check', '.']],
  ['lint', 'npx', ['eslint', '--max-warnings=0', '.']],
  ['types', 'npx', ['tsc', '-p', 'tsconfig.json', '--noEmit']],
  ['types of the page', 'npx', ['tsc', '-p', 'tsconfig.page.json', '--noEmit']],
  ['unused code', 'npx', ['knip']],
  ['build', 'node', ['scripts/build.mjs']],
  ['tests', 'npm', ['test', '--', '--ci']],
];

const results = STEPS.map(([name, program, args]) => {
  console.log(`\n--- ${name}`);
  const startedAtMs = Date.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  return { name, isPassed: status === 0, seconds: ((Date.now() - startedAtMs) / 1_000).toFixed(1) };
});

console.log('');
for (const { name, isPassed, seconds } of results)
  console.log(`${isPassed ? 'ok   ' : 'FAULT'}  ${name} (${seconds} s)`);
process.exitCode = results.every(({ isPassed }) => isPassed) ? 0 : 1;
