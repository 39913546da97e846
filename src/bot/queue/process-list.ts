import { hostname } from 'node:os';
import { INSTANCE } from '../../shared/log.ts';
import { fieldsOf, parseJson } from '../../shared/parse-json.ts';
import { loadScript } from '../../shared/redis/lua-script.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { VERSION } from '../../shared/version.ts';
import { SILENT_MS } from './turn-lease.ts';

/** Sorted set of the names of workers, by last registration. */
export const WORKERS_KEY = '{isolation}:workers';
/** Prefix of the workers' records. */
export const WORKER_RECORD_PREFIX = '{isolation}:worker:';
/** Sorted set of the records of receivers, by last report. In the cluster slot of `wakes:shards`, which is written with it. */
export const RECEIVERS_KEY = '{wakes:shards}:receivers';

const listScript = loadScript(import.meta.url, './scripts/list-processes.lua', {
  keys: ['members'],
  args: ['recordPrefix'],
  rows: { name: 'text', record: 'text', seenAgoMs: 'number' },
});

/** What a worker does now. */
export interface Workload {
  runningTurns: number;
  maxTurns: number;
  /** Whether the worker stops and takes no more turns. */
  isDraining: boolean;
}

/** A process of the deployment. Earlier versions do not record the undefined values. */
export interface ListedProcess {
  /** `instance` of its log lines. Of a worker of an earlier version only the end. */
  instance: string;
  roles: readonly ('receiver' | 'worker')[];
  version: string | undefined;
  host: string | undefined;
  pid: number | undefined;
  startedAtMs: number | undefined;
  /** Time since the process last registered. */
  seenAgoMs: number;
  /** `silent`: a worker that should have registered. Another worker, if there is one, takes over its turns. */
  state: 'alive' | 'draining' | 'silent';
  /** Undefined also for receivers. */
  runningTurns: number | undefined;
  maxTurns: number | undefined;
}

/** The record of this process, for `readProcesses`. @param workload absent for a receiver, whose record never changes */
export function processRecord(workload?: Workload): string {
  const startedAtMs = Math.round(performance.timeOrigin);
  return JSON.stringify({
    ...{ instance: INSTANCE, version: VERSION, host: hostname(), pid: process.pid, startedAtMs },
    ...workload,
  });
}

/** The receivers and workers, by host and start, with silent ones. A process that has both roles is listed once. */
export async function readProcesses(redis: RedisClient): Promise<ListedProcess[]> {
  const [workers, receivers] = await Promise.all([
    listScript.run(redis, { members: WORKERS_KEY }, { recordPrefix: WORKER_RECORD_PREFIX }),
    listScript.run(redis, { members: RECEIVERS_KEY }, { recordPrefix: '' }),
  ]);
  const listed = workers.map((row) => listedProcess('worker', row));
  for (const row of receivers) {
    const receiver = listedProcess('receiver', row);
    const same = listed.find(({ instance, roles }) => instance === receiver.instance && roles[0] === 'worker');
    if (same) same.roles = ['receiver', 'worker'];
    else listed.push(receiver);
  }
  return listed.toSorted(
    (one, other) =>
      (one.host ?? '').localeCompare(other.host ?? '') || (one.startedAtMs ?? 0) - (other.startedAtMs ?? 0),
  );
}

interface ListedRow {
  name: string;
  record: string;
  seenAgoMs: number;
}

function listedProcess(role: 'receiver' | 'worker', { name, record, seenAgoMs }: ListedRow): ListedProcess {
  const fields = fieldsOf(parseJson(record));
  const text = (field: string) => (typeof fields[field] === 'string' ? fields[field] : undefined);
  const count = (field: string) => (typeof fields[field] === 'number' ? fields[field] : undefined);
  const isSilent = role === 'worker' && seenAgoMs >= SILENT_MS;
  return {
    instance: text('instance') ?? name.replace(/-.*/, ''),
    roles: [role],
    version: text('version'),
    host: text('host'),
    pid: count('pid'),
    startedAtMs: count('startedAtMs'),
    seenAgoMs: Math.max(0, seenAgoMs),
    state: isSilent ? 'silent' : fields['isDraining'] === true ? 'draining' : 'alive',
    runningTurns: count('runningTurns'),
    maxTurns: count('maxTurns'),
  };
}
