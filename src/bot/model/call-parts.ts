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

/** Dependencies shared by all calls of one client. */
export interface CallParts {
  url: URL;
  apiKey: string;
  agent: Agent;
  limits: ChatLimits;
  /** Wall clock, for dates in responses of the service. */
  nowMs: NowMs;
  /** Monotonic clock, for durations. */
  monotonicMs: NowMs;
  log: Log;
  report: ChatReport;
  retryPolicy: RetryPolicy;
  engines: {
    breakerOf(model: string): CircuitBreaker;
    /** Undefined if questions do not wait for capacity. */
    capacityOf(model: string): EngineCapacity | undefined;
  };
  catalog: ModelCatalog;
  refusedFields: RefusedFields;
}
