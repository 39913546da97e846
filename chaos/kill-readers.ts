import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A reader lives for a few hundred milliseconds. */
const LOOKS_EVERY_MS = 15;

/**
 * Kills each process that reads files for one of these processes, as the kernel does where memory is short, for a while.
 * @param parents asked each time: they die and start again @returns how many were killed
 */
export async function killReaders(parents: () => readonly number[], forMs: number): Promise<number> {
  const killed = new Set<number>();
  const untilMs = Date.now() + forMs;
  while (Date.now() < untilMs) {
    for (const pid of parents().flatMap(readersOf)) {
      if (killed.has(pid)) continue;
      killed.add(pid);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended already.
      }
    }
    await pause(LOOKS_EVERY_MS);
  }
  return killed.size;
}

function readersOf(parent: number): number[] {
  return read(`/proc/${parent}/task/${parent}/children`)
    .split(' ')
    .filter((pid) => pid !== '' && read(`/proc/${pid}/cmdline`).includes('documents/reader'))
    .map(Number);
}

/** Processes end between two looks at them. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
