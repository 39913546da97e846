import type { HealthPart } from '../metrics/health.ts';
import type { WorkerPart } from './worker.ts';
import type { SupervisedWorker } from './local/supervised-worker.ts';
import { healthOfWorker } from './worker-health.ts';
import type { MetricsJson } from './worker-process/worker-messages.ts';

/** The part that runs turns, in this or another process. */
export interface WorkerHost {
  readonly parts: readonly HealthPart[];
  /** Number of running answers. */
  runningAnswers(): Promise<number>;
  /** Metrics that this process does not have itself. */
  metrics(): Promise<MetricsJson>;
  close(graceSec: number): Promise<void>;
}

export function inProcessWorker(part: WorkerPart): WorkerHost {
  return {
    parts: healthOfWorker(part),
    runningAnswers: async () => part.worker.runningTurns,
    metrics: () => part.quarantineCounts(),
    close: (graceSec) => part.close(graceSec),
  };
}

/** A worker in another process. Between the end of one process and the next it is not ready and has no metrics. */
export function separateProcessWorker(kept: SupervisedWorker): WorkerHost {
  return {
    parts: [{ name: 'worker', isReady: async () => (await kept.ask('ready')) === true }],
    runningAnswers: async () => Number(await kept.ask('running').catch(() => 0)),
    metrics: async () => (await kept.ask('metrics').catch(() => [])) as MetricsJson,
    close: (graceSec) => kept.stop(graceSec),
  };
}
