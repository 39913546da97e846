import { readFileSync } from 'node:fs';

/** Whether a test can list the children of a process; only Linux provides this. */
export const SEES_CHILDREN = process.platform === 'linux';

/** The newest child of this or another process whose command line contains a text; undefined if there is none. */
export function childRunning(program: string, parent = process.pid): number | undefined {
  const ids = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ');
  return ids
    .filter((id) => id.trim() !== '' && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(program))
    .map(Number)
    .at(-1);
}

/** CPU time of a process with all its threads, in steps of 10 ms. */
export function processorTimeMs(id: number): number {
  const fields = readFileSync(`/proc/${id}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  const [user, system] = [fields[11], fields[12]].map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10;
}

/** Whether a process exists and has not ended; the system still lists a zombie. */
export function isRunning(id: number): boolean {
  try {
    const [state = ''] = readFileSync(`/proc/${id}/stat`, 'latin1').split(') ').at(-1) ?? '';
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}
