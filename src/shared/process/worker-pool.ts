import { Worker } from 'node:worker_threads';
import { inBackground } from '../in-background.ts';

/** For answers and pages together; more at once would take memory and processor time from all that does not need a thread. */
const MOST_THREADS = 2;
const MEMORY_MIB = 192;
/**
 * Of them for what is new. Node gives a thread at its limit 16 MiB more to end by; what survives moves out of here at once, and where it
 * is more than that (32 MiB and more by Node 24's own choice) the whole process ends, not the thread. A third of this can move at once.
 */
const YOUNG_MEMORY_MIB = 24;

/**
 * `answer`: somebody waits for it, so that it finds a thread whatever else is done. `page`: one at a time. `password`: threads of their
 * own, since they are the service's, which may run beside a bot, and anyone may type passwords.
 */
export type ThreadPurpose = 'answer' | 'page' | 'password';

const MOST_OF: Readonly<Record<ThreadPurpose, number>> = { password: 3, answer: MOST_THREADS, page: 1 };
const running: Record<ThreadPurpose, number> = { answer: 0, page: 0, password: 0 };
const waiting: Record<ThreadPurpose, (() => void)[]> = { answer: [], page: [], password: [] };

interface ThreadOptions {
  purpose: ThreadPurpose;
  /** Ends the thread. A wait for one ends by it too, but only once a place is free. */
  signal: AbortSignal;
}

/**
 * Runs a module in a thread of its own, which reads its `workerData` and posts one message: for what other people's text, HTML or JSON
 * may draw out, so that it holds up nobody else and can be ended. It gets no environment.
 * @throws the signal's reason; Error when the thread ends without a message, as one does that needs too much memory
 */
export async function inThread<Result>(module: URL, workerData: unknown, options: ThreadOptions): Promise<Result> {
  const { purpose, signal } = options;
  if (!hasRoom(purpose)) await new Promise<void>((resolve) => waiting[purpose].push(resolve));
  else running[purpose] += 1;
  try {
    signal.throwIfAborted();
    return await run<Result>(module, workerData, signal);
  } finally {
    running[purpose] -= 1;
    letNextIn();
  }
}

/** Where a module stands that a thread can run: Node reads no TypeScript, so whoever runs src/ takes what was built of it. */
export function threadModule(name: string, importer: string): URL {
  const sourceAt = importer.endsWith('.ts') ? importer.lastIndexOf('/src/') : -1;
  if (sourceAt < 0) return new URL(name, importer);
  return new URL(name, `${importer.slice(0, sourceAt)}/dist/${importer.slice(sourceAt + '/src/'.length)}`);
}

function hasRoom(purpose: ThreadPurpose): boolean {
  if (purpose === 'password') return running[purpose] < MOST_OF[purpose];
  return running[purpose] < MOST_OF[purpose] && running.answer + running.page < MOST_THREADS;
}

function letNextIn(): void {
  for (const purpose of ['answer', 'page', 'password'] as const) {
    const next = hasRoom(purpose) ? waiting[purpose].shift() : undefined;
    if (!next) continue;
    running[purpose] += 1;
    next();
  }
}

async function run<Result>(module: URL, workerData: unknown, signal: AbortSignal): Promise<Result> {
  const worker = new Worker(module, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB, maxYoungGenerationSizeMb: YOUNG_MEMORY_MIB },
    env: {},
  });
  const end = () => inBackground(() => worker.terminate());
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<Result>((resolve, reject) => {
      const fail = () => reject(new Error('A thread ended without a result'));
      worker.once('message', resolve).once('error', fail).once('exit', fail);
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
    await worker.terminate();
  }
}
