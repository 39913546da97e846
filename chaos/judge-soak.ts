import type { SoakRun } from './soak.ts';
import type { KeyCensus } from './key-census.ts';

const MB = 1_000_000;
const DAY_MS = 86_400_000;

export interface SoakBounds {
  /** Maximum difference of the heap after a forced collection, between the end and the end of the first round. */
  heapGrowthBytes: number;
  /** Maximum ratio of resident memory at the end to that after the first round. */
  rssRatio: number;
  /** Maximum number of additional handles of any kind. */
  handleGrowth: number;
}

/** Heap within 3 MB, RSS at most 1.1 times that after the first ten minutes, no additional handles. */
export const LONG_BOUNDS: SoakBounds = { heapGrowthBytes: 3 * MB, rssRatio: 1.1, handleGrowth: 0 };

/** Keys of each BullMQ queue: its settings, its counter, its capped stream of events; and our own numbers of shards. */
const QUEUE_KEYS = ['{wake}:turns', '{summaries}:summaries']
  .flatMap((queue) => ['meta', 'id', 'events', 'stalled-check'].map((key) => `${queue}:${key}`))
  .concat('wakes:shards');
/** Keys of waiting work, of which none may be left once everything is answered. */
const WAITING_KEYS = ['{p}:inbox', '{p}:held', '{p}:media', '{p}:pending', '{wake}:turns', '{wake}:turns:lock'];
/** The longest lifetime of any key: the monthly counters. */
const MAX_LIFE_MS = 40 * DAY_MS;

/** @returns one sentence for each value that grew, or key that should not exist any more */
export function judgeSoak(soak: SoakRun, bounds: SoakBounds): string[] {
  return [...judgeProcesses(soak, bounds), ...judgeKeys(soak)];
}

function judgeProcesses({ measurements }: SoakRun, { heapGrowthBytes, rssRatio, handleGrowth }: SoakBounds): string[] {
  const [first = {}, last = {}] = [measurements[0], measurements.at(-1)];
  return Object.entries(last).flatMap(([name, end]) => {
    const mark = first[name];
    if (!mark || measurements.length < 2) return [`${name} was measured once only`];
    const faults: string[] = [];
    const grown = Math.abs(end.heapBytes - mark.heapBytes);
    if (grown >= heapGrowthBytes) faults.push(`heap differs by ${inMb(grown)}, bound: ${inMb(heapGrowthBytes)}`);
    const ratio = end.rssBytes / mark.rssBytes;
    if (ratio > rssRatio) faults.push(`resident memory is ${ratio.toFixed(3)} of the mark, bound: ${rssRatio}`);
    const handles: Record<string, [number, number]> = {
      'file descriptors': [mark.fileDescriptors, end.fileDescriptors],
    };
    for (const kind of new Set([...Object.keys(mark.resources), ...Object.keys(end.resources)]))
      Object.assign(handles, { [kind]: [mark.resources[kind] ?? 0, end.resources[kind] ?? 0] });
    for (const [kind, [had, has]] of Object.entries(handles))
      if (has - had > handleGrowth) faults.push(`${kind}: ${had} at the mark, ${has} at the end`);
    return faults.map((fault) => `${name}: ${fault}`);
  });
}

function judgeKeys({ run, keys }: SoakRun): string[] {
  const { events } = run.ledger;
  const conversations = new Set(events.map(({ conversation }) => conversation)).size;
  /** Maximum numbers of keys that the messages explain. On Slack an answer that begins a thread has a history there too. */
  const explained: Record<string, number> = {
    '{p}:message': events.length,
    '{p}:state': conversations,
    '{p}:history': conversations + events.filter(({ platform }) => platform === 'slack').length,
    '{p}:notices': conversations,
    // One for each thread in which Slack's answers may have been lost.
    '{p}:place': events.filter(({ platform }) => platform === 'slack').length,
  };
  const faults = Object.entries(keys.after).flatMap(([kind, { count, endless, maxLifeMs }]) => {
    const most = explained[kind];
    return [
      ...(most !== undefined && count > most ? [`${kind}: ${count} keys, explained: ${most}`] : []),
      ...(WAITING_KEYS.includes(kind) ? [`${kind}: ${count} keys although nothing waits`] : []),
      ...(endless > 0 && !QUEUE_KEYS.includes(kind) ? [`${kind}: ${endless} keys that never end`] : []),
      ...(maxLifeMs > MAX_LIFE_MS ? [`${kind}: a life of ${Math.round(maxLifeMs / DAY_MS)} days`] : []),
    ];
  });
  return [...faults, ...judgeAged(keys.before, keys.aged)];
}

/** Some of BullMQ's own keys do not exist before the first message. */
function judgeAged(before: KeyCensus, aged: KeyCensus): string[] {
  return Object.entries(aged).flatMap(([kind, { count }]) => {
    const base = Math.max(before[kind]?.count ?? 0, QUEUE_KEYS.includes(kind) ? 1 : 0);
    return count > base ? [`${kind}: ${count} keys once all lives are over, before: ${base}`] : [];
  });
}

function inMb(bytes: number): string {
  return `${(bytes / MB).toFixed(2)} MB`;
}
