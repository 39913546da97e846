import type { Config, Secrets } from '../../config/config.ts';

/** What a worker process can be asked. */
export type WorkerQuestion = 'running' | 'ready' | 'metrics';

/** What a worker process is told before it does anything. It goes by the channel between the two, where nobody else reads. */
export interface WorkerTask {
  config: Config;
  secrets: Secrets;
  /** By what name it takes turns. */
  name: string;
  /** Those before it that ended without giving back what they had taken. */
  deadNames: readonly string[];
}

export type ToWorker =
  | { kind: 'begin'; task: WorkerTask }
  | { kind: 'ask'; id: number; question: WorkerQuestion }
  | { kind: 'stop'; graceSec: number };

/** `here`: it listens. `ready`: it takes turns, and has taken so many over from the dead. */
export type FromWorker =
  | { kind: 'here' }
  | { kind: 'ready'; takenOver: number }
  | { kind: 'failed'; message: string }
  | { kind: 'answer'; id: number; value: unknown };
