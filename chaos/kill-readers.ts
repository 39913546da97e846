import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A reader lives for a few hundred milliseconds. */
const LOOKS_EVERY_MS = 15;

/**
 * Kills each file reader process of these processes for a while, like the kernel's OOM killer.
 * @param parents called each time, because they die and restart @returns the number of kills
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
        // It has exited already.
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

/** Processes may exit between two reads of the table. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
