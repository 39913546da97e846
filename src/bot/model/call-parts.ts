import type { Agent } from 'undici';
import type { NowMs } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import type { ChatReport } from './chat-types.ts';
import type { EngineCapacity } from './engine-capacity.ts';
import type { ChatLimits } from './chat-limits.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { RefusedFields } from './refused-fields.ts';
import type { RetryPolicy } from './retry-policy.ts';

/** What all calls of one client share. */
export interface CallParts {
  url: URL;
  apiKey: string;
  agent: Agent;
  limits: ChatLimits;
  /** The time of day, for dates that a service answers with. */
  nowMs: NowMs;
  /** Counts on evenly, for lengths of time. */
  monotonicMs: NowMs;
  log: Log;
  report: ChatReport;
  retryPolicy: RetryPolicy;
  /** What is known of the engine of a model. */
  engines: {
    breakerOf(model: string): CircuitBreaker;
    /** Undefined where no question waits for capacity. */
    capacityOf(model: string): EngineCapacity | undefined;
  };
  catalog: ModelCatalog;
  refusedFields: RefusedFields;
}
