import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { HealthPart } from '../metrics/health.ts';
import type { WorkerPart } from './bot.ts';
import type { KeptWorker } from './local/supervised-worker.ts';
import { healthOfWorker } from './worker-health.ts';

export type Metrics = MetricObjectWithValues<MetricValue<string>>[];

/** The part that runs turns, in this or another process. */
export interface WorkerSide {
  readonly parts: readonly HealthPart[];
  /** Number of running answers. */
  runningAnswers(): Promise<number>;
  /** Metrics that this process does not have itself. */
  metrics(): Promise<Metrics>;
  close(graceSec: number): Promise<void>;
}

export function workerHere(part: WorkerPart): WorkerSide {
  return {
    parts: healthOfWorker(part),
    runningAnswers: async () => part.worker.runningTurns,
    metrics: async () => [],
    close: (graceSec) => part.close(graceSec),
  };
}

/** A worker in another process. Between the end of one process and the next it is not ready and has no metrics. */
export function workerApart(kept: KeptWorker): WorkerSide {
  return {
    parts: [{ name: 'worker', isReady: async () => (await kept.ask('ready')) === true }],
    runningAnswers: async () => Number(await kept.ask('running').catch(() => 0)),
    metrics: async () => (await kept.ask('metrics').catch(() => [])) as Metrics,
    close: (graceSec) => kept.stop(graceSec),
  };
}
