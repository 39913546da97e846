// Removes one safeguard after another in memory, and requires that a test of its rule fails.
// Usage: npm run mutants [-- PART …]: only mutants whose rule, target or test contains a part. Exit code 1 if one survives.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutate, readSources } from './mutants/find-target.mjs';
import { readRows } from './mutants/rows.mjs';

const CONCURRENCY = 2;
/** A run that has not ended by then proves nothing: without its safeguard something waits forever. */
const LIMIT_MS = 240_000;
/** A worker keeps much of what it has loaded. */
const RUNS_OF_A_WORKER = 25;

const wanted = process.argv.slice(2);
const nameOf = ({ rule, target, mutation, test }) => [rule, target, mutation, test].join('  ');
const mutants = readRows().rows.filter(
  (row) => wanted.length === 0 || wanted.some((part) => nameOf(row).includes(part)),
);
const sources = readSources();
const folder = mkdtempSync(join(tmpdir(), 'parley-mutants-'));
const startedAtMs = Date.now();
let killed = 0;
try {
  const queue = [...mutants.entries()];
  await Promise.all(Array.from({ length: CONCURRENCY }, () => work(queue)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const minutes = ((Date.now() - startedAtMs) / 60_000).toFixed(1);
console.log(`\n${killed} of ${mutants.length} mutants were killed, in ${minutes} min.`);
process.exitCode = killed === mutants.length && killed > 0 ? 0 : 1;

async function work(queue) {
  let worker;
  let runs = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [index, mutant] = next;
    if (!worker?.connected || runs === RUNS_OF_A_WORKER) {
      if (worker?.connected) worker.disconnect();
      worker = startWorker();
      runs = 0;
    }
    runs += 1;
    const beganAtMs = Date.now();
    const verdict = await judge(worker, mutant, String(index));
    if (verdict === 'killed') killed += 1;
    console.log([verdict, `${((Date.now() - beganAtMs) / 1_000).toFixed(1)} s`, nameOf(mutant)].join('  '));
  }
  if (worker?.connected) worker.disconnect();
}

function startWorker() {
  return fork('scripts/mutants/worker.mjs', {
    execArgv: ['--experimental-vm-modules', '--no-warnings'],
    env: { ...process.env, MUTANTS: 'yes', TEST_TIER: 'full' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** Runs the tests of the mutant's rule in its test file. Tests that cannot be loaded prove nothing. */
async function judge(worker, mutant, id) {
  const { file, text } = mutate(sources, mutant);
  const changed = join(folder, id);
  writeFileSync(changed, text);
  worker.send({ id, file, changed, test: mutant.test, pattern: `\\[${mutant.rule}\\]` });
  const timer = setTimeout(() => worker.kill('SIGKILL'), LIMIT_MS);
  const results = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => undefined)]);
  clearTimeout(timer);
  if (results === undefined) return 'NO RESULT';
  const [{ error, passed, failed }] = results;
  if (error) return 'NOT LOADED';
  if (failed.length > 0) return 'killed';
  return passed > 0 ? 'SURVIVED' : 'NO TEST';
}
