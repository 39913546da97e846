import { Agent } from 'undici';
import { monotonicMs, type NowMs } from '../../shared/clock.ts';
import { outgoingConnector } from '../../shared/http/http-agent.ts';
import type { Log } from '../../shared/log.ts';
import { askWithRetries } from './ask-with-retries.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatClient, ChatReport } from './chat-types.ts';
import { engineName, type CapacityShare } from './capacity-share.ts';
import { EngineCapacity } from './engine-capacity.ts';
import { DEFAULT_CHAT_LIMITS, type ChatLimits } from './chat-limits.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { ModelCatalog } from '../../shared/models/model-catalog.ts';
import { RefusedFields } from './refused-fields.ts';
import { RetryPolicy } from './retry-policy.ts';

export interface ChatClientOptions {
  /** Address of the chat API, ending in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Wall clock. */
  nowMs: NowMs;
  /** Monotonic clock for durations. Defaults to the clock of this process. */
  monotonicMs?: NowMs;
  log: Log;
  report: ChatReport;
  /** Capabilities and request format of each model. */
  catalog: ModelCatalog;
  limits?: Partial<ChatLimits>;
  /** Shares the concurrency of an engine among workers. Without it, questions do not wait for capacity. */
  share?: CapacityShare;
  /** Jitter of the retries, 0 ≤ x < 1. Defaults to `Math.random`. */
  random?: () => number;
}

/** Creates a client of the chat API that streams answers as typed events over its own keep-alive connections. */
export function createChatClient(options: ChatClientOptions): ChatClient {
  const limits: ChatLimits = { ...DEFAULT_CHAT_LIMITS, ...options.limits };
  const baseUrl = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  // undici's timeouts are disabled: AnswerWatch enforces them, because it can tell reasoning from stalling.
  const agent = new Agent({
    connect: outgoingConnector({ timeoutMs: limits.connectMs }),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const { nowMs, apiKey, share, log, report, random = Math.random } = options;
  const lengths = { monotonicMs: options.monotonicMs ?? monotonicMs };
  const breakers = byModel((model) => {
    const onChange = (state: 'open' | 'half-open' | 'closed'): void => {
      log.warn({ model, breaker: state }, 'chat: the circuit breaker changed its state');
      report.breakerChanged({ model, state });
    };
    return new CircuitBreaker({ ...lengths, limits, onChange });
  });
  const capacities =
    share &&
    byModel((model) => {
      const onLimitChanged = (limit: number): void => {
        log[limit === 0 ? 'info' : 'warn']({ model, limit }, 'chat: the concurrency limit of the engine changed');
        report.limitChanged({ model, limit });
      };
      return new EngineCapacity({ ...lengths, random, engine: engineName(baseUrl, model), share, onLimitChanged });
    });
  const parts: CallParts = {
    url: new URL(`${baseUrl}/chat/completions`),
    apiKey,
    agent,
    limits,
    nowMs,
    ...lengths,
    log,
    report,
    retryPolicy: new RetryPolicy({ ...lengths, limits, random }),
    catalog: options.catalog,
    refusedFields: new RefusedFields(lengths.monotonicMs),
    engines: { breakerOf: breakers.of, capacityOf: (model) => capacities?.of(model) },
  };
  const clientOf = (ownParts: CallParts): ChatClient => ({
    stream: (request, signal, onEvent) => askWithRetries(ownParts, { request, signal, onEvent }),
    withCatalog: (catalog) => clientOf({ ...ownParts, catalog }),
    async close() {
      for (const capacity of capacities?.all() ?? []) capacity.close();
      share?.close();
      await agent.destroy();
    },
  });
  return clientOf(parts);
}

/** One value per model, created when it is first needed. */
function byModel<Value extends object>(create: (model: string) => Value) {
  const values = new Map<string, Value>();
  const add = (model: string): Value => {
    const value = create(model);
    values.set(model, value);
    return value;
  };
  return { of: (model: string) => values.get(model) ?? add(model), all: () => values.values() };
}

export type { ChatClient };
