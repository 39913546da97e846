import { Worker } from 'node:worker_threads';
import { inBackground } from '../in-background.ts';

/**
 * Maximum threads for answers and pages together. More would take memory and processor time from work that needs no thread.
 */
const MAX_THREADS = 2;
const MEMORY_MIB = 192;
/**
 * Part of it for new objects. Node grants a thread at its limit 16 MiB more to terminate. Surviving objects are promoted all
 * at once; if they exceed that (32 MiB and more with Node 24's default), the whole process ends instead of the thread. A
 * third of this size can be promoted at once.
 */
const YOUNG_MEMORY_MIB = 24;

/**
 * `answer`: a caller waits for the result, so a thread is always available. `page`: one at a time. `password`: separate
 * threads, because they belong to the service, which may run beside a bot, and anyone can submit passwords.
 */
export type ThreadPurpose = 'answer' | 'page' | 'password';

const MAX_OF: Readonly<Record<ThreadPurpose, number>> = { password: 3, answer: MAX_THREADS, page: 1 };
const running: Record<ThreadPurpose, number> = { answer: 0, page: 0, password: 0 };
const waiting: Record<ThreadPurpose, (() => void)[]> = { answer: [], page: [], password: [] };

interface ThreadOptions {
  purpose: ThreadPurpose;
  /** Terminates the thread. Also ends the wait for a thread, but only once a place is free. */
  signal: AbortSignal;
}

/**
 * Runs a module in a separate thread, which reads its `workerData` and posts one message. For text, HTML or JSON from
 * outside that may take long to process: other work is not blocked, and the thread can be terminated. The thread gets no
 * environment variables.
 * @throws the signal's reason; Error if the thread ends without a message, for example for lack of memory
 */
export async function runInThread<Result>(module: URL, workerData: unknown, options: ThreadOptions): Promise<Result> {
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

/**
 * Location of a module that a thread can run: Node cannot run TypeScript there, so code that runs from src/ uses the build
 * output.
 */
export function threadModule(name: string, importer: string): URL {
  const sourceAt = importer.endsWith('.ts') ? importer.lastIndexOf('/src/') : -1;
  if (sourceAt < 0) return new URL(name, importer);
  return new URL(name, `${importer.slice(0, sourceAt)}/dist/${importer.slice(sourceAt + '/src/'.length)}`);
}

function hasRoom(purpose: ThreadPurpose): boolean {
  if (purpose === 'password') return running[purpose] < MAX_OF[purpose];
  return running[purpose] < MAX_OF[purpose] && running.answer + running.page < MAX_THREADS;
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
