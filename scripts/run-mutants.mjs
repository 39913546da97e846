// Takes one defence after another out of the source, in memory, and demands that the tests which guard it turn red.
// Usage: npm run mutants [-- PART_OF_A_NAME …]. No file on disk is changed. Exit code 1 when a mutant survives.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDER = 'test/mutants';
const AT_ONCE = 2;
/** A mutant whose tests have not ended by then proves nothing: without its defence something waits for ever. */
const LIMIT_MS = 240_000;
/** Shorter than in `npm test`: what hangs without its defence is red. */
const TEST_LIMIT_MS = 20_000;

const wanted = process.argv.slice(2).map((part) => part.toLowerCase());
const mutants = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')))
  .filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part)));

const reports = mkdtempSync(join(tmpdir(), 'parley-mutants-'));
const startedAtMs = Date.now();
let faults = 0;
try {
  const queue = mutants.map((mutant, index) => ({ mutant, index }));
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { mutant, index } = next;
      const beganAtMs = Date.now();
      const verdict = await judge(mutant, join(reports, `${index}.json`));
      if (verdict.fault) faults += 1;
      const seconds = `${((Date.now() - beganAtMs) / 1_000).toFixed(1)} s`;
      console.log(
        [verdict.fault ? 'FAULT' : 'ok   ', verdict.text, seconds, `${mutant.rule}: ${mutant.name}`].join('  '),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
} finally {
  rmSync(reports, { recursive: true, force: true });
}
const minutes = ((Date.now() - startedAtMs) / 60_000).toFixed(1);
console.log(`\n${mutants.length - faults} of ${mutants.length} mutants were found by their tests, in ${minutes} min.`);
process.exitCode = faults === 0 && mutants.length > 0 ? 0 : 1;

/** Runs a mutant's tests. Found means that a test failed; tests that cannot even be loaded show nothing. */
async function judge(mutant, report) {
  const { file, find, replace, tests, only } = mutant;
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  const args = [
    '--runInBand',
    '--silent',
    '--forceExit',
    `--testTimeout=${TEST_LIMIT_MS}`,
    '--json',
    `--outputFile=${report}`,
    ...tests,
  ];
  const child = spawn(process.execPath, [...jest, ...args, ...(only ? ['--testNamePattern', only] : [])], {
    env: { ...process.env, MUTANT: JSON.stringify({ file, find, replace }) },
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  const results = readReport(report);
  if (!results) return { fault: true, text: 'no result in time' };
  if (results.numRuntimeErrorTestSuites > 0) return { fault: true, text: 'tests do not load' };
  if (results.numPassedTests + results.numFailedTests === 0) return { fault: true, text: 'no test ran' };
  if (results.numFailedTests === 0) return { fault: true, text: 'SURVIVED' };
  return { fault: false, text: `${results.numFailedTests} red` };
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
