import { setTimeout as pause } from 'node:timers/promises';
import { openInspector } from './inspector.ts';

/** Resources of an idle process. */
export interface VitalSigns {
  /** After a forced collection. */
  heapBytes: number;
  rssBytes: number;
  fileDescriptors: number;
  /** Resources that keep its event loop alive, by kind. */
  resources: Record<string, number>;
}

/** Timers and connections come and go even in an idle process; the minimum of several samples is always there. */
const SAMPLES = 16;
const SAMPLE_EVERY_MS = 500;

/** Counts open files through `/dev/fd`, which exists on Linux and macOS; each count includes the directory itself. */
const SAMPLE_EXPRESSION = `JSON.stringify({
  rssBytes: process.memoryUsage.rss(),
  fileDescriptors: process.getBuiltinModule('node:fs').readdirSync('/dev/fd').length,
  active: process.getActiveResourcesInfo(),
})`;

/** Reads the vital signs of a process through its inspector. @throws Error if it does not answer */
export async function readVitalSigns(inspectorUrl: string): Promise<VitalSigns> {
  const inspector = await openInspector(inspectorUrl);
  try {
    const samples: Omit<VitalSigns, 'heapBytes'>[] = [];
    for (let count = 0; count < SAMPLES; count += 1) {
      await pause(SAMPLE_EVERY_MS);
      const { active, ...seen } = JSON.parse(String(await inspector.evaluate(SAMPLE_EXPRESSION))) as Omit<
        VitalSigns,
        'resources'
      > & {
        active: string[];
      };
      samples.push({ ...seen, resources: countEach(active) });
    }
    await inspector.collectGarbage();
    const heapBytes = await inspector.heapUsedBytes();
    const { rssBytes } = JSON.parse(String(await inspector.evaluate(SAMPLE_EXPRESSION))) as { rssBytes: number };
    return {
      heapBytes,
      rssBytes,
      fileDescriptors: Math.min(...samples.map(({ fileDescriptors }) => fileDescriptors)),
      resources: minOfEach(samples.map(({ resources }) => resources)),
    };
  } finally {
    await inspector.close();
  }
}

function countEach(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function minOfEach(counts: readonly Record<string, number>[]): Record<string, number> {
  const kinds = [...new Set(counts.flatMap((one) => Object.keys(one)))].sort();
  const least = kinds.map((kind): [string, number] => [kind, Math.min(...counts.map((one) => one[kind] ?? 0))]);
  return Object.fromEntries(least.filter(([, count]) => count > 0));
}
