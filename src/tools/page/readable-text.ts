import { Worker } from 'node:worker_threads';
import { ToolError } from '../tool-error.ts';

export interface ReadableText {
  title: string;
  text: string;
}

/** More at once would take memory and processor time from answers. */
const MOST_AT_ONCE = 2;
const MEMORY_MIB = 192;

let running = 0;
const waiting: (() => void)[] = [];

/** Makes readable text of HTML, off the event loop. @throws ToolError `unusable`, or the signal's reason */
export async function readableText(html: string, signal: AbortSignal): Promise<ReadableText> {
  if (running >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    signal.throwIfAborted();
    return await runWorker(html, signal);
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

async function runWorker(html: string, signal: AbortSignal): Promise<ReadableText> {
  const worker = new Worker(new URL('./readable-text-worker.mjs', import.meta.url), {
    workerData: { html },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    env: {},
  });
  const end = () => void worker.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<ReadableText>((resolve, reject) => {
      const fail = () => reject(new ToolError('unusable', 'The page cannot be read.'));
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
