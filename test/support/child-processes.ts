import { readFileSync } from 'node:fs';

/** Where a test can see a process's children; the kernel tells of them on Linux only. */
export const SEES_CHILDREN = process.platform === 'linux';

/** The newest process that this one, or another, started and whose command line holds a text; undefined when none runs. */
export function childRunning(program: string, parent = process.pid): number | undefined {
  const ids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ');
  return ids
    .filter((id) => id.trim() !== '' && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(program))
    .map(Number)
    .at(-1);
}

/** How long a process was at work so far, all its threads together, in steps of the kernel's hundredth of a second. */
export function processorTimeMs(id: number): number {
  const fields = readFileSync(`/proc/${id}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  const [user, system] = [fields[11], fields[12]].map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10;
}

/** Whether a process is there and has not ended; one that nobody has asked how it ended is still listed. */
export function isRunning(id: number): boolean {
  try {
    const [state = ''] = readFileSync(`/proc/${id}/stat`, 'latin1').split(') ').at(-1) ?? '';
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
