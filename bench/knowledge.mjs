import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createKnowledge } from '../dist-modules/bot/knowledge/create-knowledge.js';
import { questionsOf, writeDocuments } from './knowledge-texts.mjs';
import { besideLiveAnswers } from './live-answers.mjs';
import { percentile, rounded } from './load.mjs';
import { unpin } from './measured-process.mjs';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 10_000);
const BYTES_EACH = 10_000;
const QUESTIONS = 2_000;
/**
 * Questions per second, for the measurements beside the process's own work and beside growing answers in another process.
 */
const BESIDE = { perSecond: 20, seconds: 30, busyShare: 0.5 };
const LIVE = { atOnce: 60, rounds: 5 };
const MIB = 1_024 * 1_024;
const READER = { person: undefined, place: { kind: 'private', id: 'bench' } };

/**
 * Cost of a directory's index: building it, holding it, searching it alone and beside other work, and how soon a change is
 * visible.
 */
export async function benchKnowledge(report) {
  unpin();
  const root = mkdtempSync(join(tmpdir(), 'parley-bench-knowledge-'));
  const docs = join(root, 'docs');
  // The index alone does not keep a process alive.
  const alive = setInterval(() => undefined, 1_000);
  let size;
  const told = {
    sourceFailed: fail,
    indexEnded: fail,
    documentsLeftOut: fail,
    searched: () => undefined,
    siteRead: fail,
  };
  const kept = createKnowledge({
    folder: join(root, 'index'),
    nowMs: Date.now,
    report: { ...told, indexed: (event) => (size = event) },
  });
  try {
    const bytes = writeDocuments(docs, DOCUMENTS, BYTES_EACH);
    const file = JSON.stringify({ sources: [{ name: 'docs', folder: docs, readers: 'public' }] });
    const { knowledge, takeOver } = kept.read(file, join(root, 'knowledge.json'));
    const beganMs = performance.now();
    takeOver();
    const questions = questionsOf(QUESTIONS);
    const ask = async (question) => {
      const askedMs = performance.now();
      const found = await knowledge.search(question, READER, new AbortController().signal);
      return { tookMs: performance.now() - askedMs, found };
    };
    const during = [];
    while (!size) {
      during.push((await ask(questions[during.length % QUESTIONS])).tookMs);
      await sleep(20);
    }
    const built = { case: 'build', documents: size.documents, textMb: rounded(bytes / 1e6), passages: size.passages };
    const buildSec = rounded((performance.now() - beganMs) / 1_000);
    report({ ...built, seconds: buildSec, memoryMib: rounded(size.memoryBytes / MIB), ...spread(during) });

    const alone = [];
    for (const question of questions) alone.push((await ask(question)).tookMs);
    report({ case: 'search alone', documents: DOCUMENTS, ...spread(alone) });

    const answering = keepBusy();
    // Event loop delay of the machine alone.
    const floor = monitorEventLoopDelay({ resolution: 1 });
    floor.enable();
    await sleep(BESIDE.seconds * 1_000);
    floor.disable();
    const floorMs = rounded(floor.percentile(99.9) / 1e6);
    const askSteadily = async () => {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      const asked = [];
      delay.enable();
      for (let number = 0; number < BESIDE.perSecond * BESIDE.seconds; number += 1) {
        asked.push(ask(questions[number % QUESTIONS]).then(({ tookMs }) => tookMs));
        await sleep(1_000 / BESIDE.perSecond);
      }
      const took = await Promise.all(asked);
      delay.disable();
      return { ...spread(took), loopHeldMs: rounded(delay.percentile(99.9) / 1e6) };
    };
    const beside = await askSteadily();
    answering.stop();
    report({ case: 'search beside work', documents: DOCUMENTS, ...beside, floorMs });
    const { done, answers } = await besideLiveAnswers(LIVE.atOnce, LIVE.rounds, askSteadily);
    // Meanwhile this process plays the model and the platform; its event loop delay says nothing about a worker's.
    const { p50Ms, p99Ms, mostMs } = done;
    report({ case: `search beside ${LIVE.atOnce} live answers`, documents: DOCUMENTS, p50Ms, p99Ms, mostMs, answers });

    const changedMs = performance.now();
    writeFileSync(join(docs, '0', 'new.md'), '# Zanzibarquux\n');
    while ((await ask('zanzibarquux')).found.length === 0) await sleep(20);
    report({
      case: 'an update is seen',
      documents: DOCUMENTS,
      seconds: rounded((performance.now() - changedMs) / 1_000),
    });
  } finally {
    await kept.close();
    clearInterval(alive);
    if (existsSync(root)) rmSync(root, { recursive: true });
  }
}

function fail(event) {
  throw new Error(`The index is not healthy: ${JSON.stringify(event)}`);
}

function spread(tookMs) {
  return {
    p50Ms: rounded(percentile(tookMs, 0.5)),
    p99Ms: rounded(percentile(tookMs, 0.99)),
    mostMs: rounded(Math.max(...tookMs)),
  };
}

/** Uses half of the CPU time in slices of a millisecond, like a worker that answers. */
function keepBusy() {
  const timer = setInterval(() => {
    const untilMs = performance.now() + 2 * BESIDE.busyShare;
    while (performance.now() < untilMs);
  }, 2);
  return { stop: () => clearInterval(timer) };
}
