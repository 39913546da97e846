import { readFile } from 'node:fs/promises';

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick. */
const TICK_MS = 10;
/** Of the fields after the program's name, which may contain spaces. */
const [USER, SYSTEM] = [11, 12];

/** Processor time that a process has used, in milliseconds; undefined if it has ended or the system does not tell. */
export async function processorMsOf(processId: number | undefined): Promise<number | undefined> {
  const line = await readFile(`/proc/${processId}/stat`, 'latin1').catch(() => '');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[USER]) + Number(fields[SYSTEM]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}
