import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { Config, Secrets } from '../../config/config.ts';
import type { ConversationRef } from '../../domain/conversation.ts';
import type { LocalHit, LocalQuery } from '../../knowledge/index/local-index.ts';

/** Metrics of a process, as Prometheus' client writes them for another process. */
export type MetricsJson = MetricObjectWithValues<MetricValue<string>>[];

/** Questions to a worker process. */
export type WorkerQuestion = 'running' | 'ready' | 'metrics';

/** Task of a worker process, sent before anything else. Sent over the private channel between the two processes. */
export interface WorkerTask {
  config: Config;
  secrets: Secrets;
  /** Name under which it claims turns. */
  name: string;
  /** Names of earlier processes that ended without giving back their turns. */
  deadNames: readonly string[];
  /** Whether it runs only the turns that it is given. */
  isQuarantine?: boolean;
}

export type ToWorker =
  | { kind: 'begin'; task: WorkerTask }
  | { kind: 'ask'; id: number; question: WorkerQuestion }
  | { kind: 'run'; conversation: ConversationRef }
  | { kind: 'found'; id: number; hits: LocalHit[] | undefined }
  | { kind: 'stop'; graceSec: number };

/**
 * `here`: it listens. `ready`: it takes turns, and has taken over `takenOver` turns of dead workers. `left`: a turn that it was
 * given has ended or was given back; `counts` are the process's counters and histograms. `search`: it has no index of
 * documents and asks for `found`, without hits if that failed.
 */
export type FromWorker =
  | { kind: 'here' }
  | { kind: 'ready'; takenOver: number }
  | { kind: 'failed'; message: string }
  | { kind: 'left'; conversationId: string; counts: MetricsJson }
  | { kind: 'search'; id: number; query: LocalQuery }
  | { kind: 'answer'; id: number; value: unknown };
