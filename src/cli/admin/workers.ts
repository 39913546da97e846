import { readProcesses, type ListedProcess } from '../../bot/queue/process-list.ts';
import type { RunAdmin } from './admin-context.ts';

/** `admin workers`: the live receivers and workers. */
export const listWorkers: RunAdmin = async ({ redis }) => {
  const processes = await readProcesses(redis);
  const text = processes.length === 0 ? 'No receiver or worker is running\n' : processes.map(lineOf).join('');
  return { data: processes.map(asData), text };
};

const startOf = ({ startedAtMs }: ListedProcess) =>
  startedAtMs === undefined ? undefined : new Date(startedAtMs).toISOString();

function asData(listed: ListedProcess): Record<string, unknown> {
  const { startedAtMs: _startedAtMs, seenAgoMs, ...rest } = listed;
  return { ...rest, started: startOf(listed), seenSecondsAgo: Math.round(seenAgoMs / 100) / 10 };
}

const STATES: Readonly<Record<ListedProcess['state'], string>> = {
  alive: 'alive',
  draining: 'draining',
  silent: 'not responding',
};

function lineOf(listed: ListedProcess): string {
  const { instance, version = '-', host = '-', pid = '-', runningTurns, maxTurns = '-', seenAgoMs } = listed;
  const [state, roles] = [STATES[listed.state], listed.roles.join(', ')];
  const [started, seen] = [startOf(listed) ?? '-', (seenAgoMs / 1_000).toFixed(1)];
  return runningTurns === undefined
    ? `${instance}  ${state}  ${roles}  version ${version}, host ${host}, process ${pid}, started ${started}, seen ${seen} s ago\n`
    : `${instance}  ${state}  ${roles}  version ${version}, host ${host}, process ${pid}, started ${started}, seen ${seen} s ago, answers ${runningTurns} of ${maxTurns}\n`;
}
