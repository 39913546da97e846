// A separate process that prepares images, because memory and a blocked event loop can only be measured per process. Each
// message lists files to prepare at once. The answer contains the result of each file, the peak memory of this process and
// its decoder above that of the first message's small image, and the longest time that its event loop worked without a
// pause. Started by prepare-image.test.ts.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { ImageError } from '../../../../../dist-modules/bot/turn/conversation/images/image-error.js';
import { prepareImage } from '../../../../../dist-modules/bot/turn/conversation/images/prepare-image.js';

const KIB_PER_MIB = 1024;

/** A memory field of a process as Linux counts it, in MiB. */
function memoryMib(pid, field) {
  const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kib) / KIB_PER_MIB;
}

/** The ids of the processes that this one started. */
function children() {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean);
}

/** Memory of this process and its children, which is sampled every few milliseconds because children come and go. */
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

/** Processor time of the event loop's own thread; other threads and programs do not count. */
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
  // The first, small image is the baseline cost of decoding.
  restMib ??= mostMib;
  process.send({ results, heldMs, grownMib: mostMib - restMib });
});
