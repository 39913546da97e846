// A process of its own that prepares images, since memory and held-up loops are a whole process's affair. It is told files,
// one message for all that come at once, and answers with what became of each, the memory that this process and its
// decoder took at most beyond what they had after the first, small ones, and the longest time for which its event loop was at work without a pause. Started by prepare-image.test.ts.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ImageError } from '../../../../../dist/bot/turn/conversation/images/image-error.js';
import { prepareImage } from '../../../../../dist/bot/turn/conversation/images/prepare-image.js';

const KIB_PER_MIB = 1024;

/** Linux's own count of a process's memory, and of its highest since it was asked to begin anew. */
function memoryMib(pid, field) {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kib) / KIB_PER_MIB;
}

/** The processes that this one started. */
function children() {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean);
}

/** Of this process and those that it started, looked at every few milliseconds since they come and go. */
function memoryOfAllMib() {
  return [process.pid, ...children()].reduce((sum, pid) => {
    try {
      return sum + memoryMib(pid, 'VmRSS');
    } catch {
      return sum;
    }
  }, 0);
}

function watchMemory() {
  let mostMib = 0;
  const measure = () => (mostMib = Math.max(mostMib, memoryOfAllMib()));
  measure();
  const timer = setInterval(measure, 2);
  return () => {
    clearInterval(timer);
    return mostMib;
  };
}

/** Processor time of the event loop's own thread: other threads, and other programs, do not count. */
function loopWorkMs() {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}

function watchLoop() {
  let longestMs = 0;
  let before = loopWorkMs();
  const timer = setInterval(() => {
    const now = loopWorkMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
}

async function prepare(file) {
  try {
    return { dataUrl: await prepareImage(await readFile(file), file, AbortSignal.timeout(60_000)) };
  } catch (error) {
    if (error instanceof ImageError) return { fault: error.code };
    throw error;
  }
}

let restMib;

process.on('message', async (files) => {
  const endWatchMemory = watchMemory();
  const endWatchLoop = watchLoop();
  const results = await Promise.all(files.map(prepare));
  const heldMs = endWatchLoop();
  const mostMib = endWatchMemory();
  // The first, a small image, is what decoding costs anyway.
  restMib ??= mostMib;
  process.send({ results, heldMs, grownMib: mostMib - restMib });
});
