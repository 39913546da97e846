import { Agent } from 'undici';
import type { NowMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { askWithRetries } from './ask-with-retries.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatClient, ChatEvent, ChatReport, ChatRequest } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import { DEFAULT_CHAT_LIMITS, type ChatLimits } from './chat-limits.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { listModels } from './list-models.ts';
import { RetryPolicy } from './retry-policy.ts';

export interface ChatClientOptions {
  /** The chat interface's address, ending in `/v1`. */
  baseUrl: string;
  apiKey: string;
  nowMs: NowMs;
  log: Log;
  report: ChatReport;
  limits?: Partial<ChatLimits>;
  /** Jitter of the retries, 0 ≤ x < 1; `Math.random` unless told. */
  random?: () => number;
}

/** A client of the chat interface: streams answers as typed events, over connections of its own that are kept open. */
export function createChatClient(options: ChatClientOptions): ChatClient {
  const limits: ChatLimits = { ...DEFAULT_CHAT_LIMITS, ...options.limits };
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  // Times are watched by AnswerWatch, which knows thinking from stalling; undici's own are off.
  const agent = new Agent({ connect: { timeout: limits.connectMs }, headersTimeout: 0, bodyTimeout: 0 });
  const { nowMs, apiKey, log, report, random = Math.random } = options;
  const parts: CallParts = {
    url: `${baseUrl}/chat/completions`,
    apiKey,
    agent,
    limits,
    nowMs,
    log,
    report,
    retryPolicy: new RetryPolicy({ nowMs, limits, random }),
    breakerOf: breakersByModel({ nowMs, limits, report, log }),
  };
  return {
    stream: (request, signal) => streamEvents(parts, request, signal),
    listModels: (signal) => listModels({ baseUrl, apiKey, limits, signal }),
    close: () => agent.destroy(),
  };
}

async function* streamEvents(parts: CallParts, request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const asked = await askWithRetries(parts, request, signal);
  if ('fallback' in asked) yield { type: 'fallback', model: asked.fallback };
  const { call, firstEvents } = 'fallback' in asked ? await asked.ask() : asked;
  try {
    for (let events = firstEvents; events; events = await call.next()) {
      for (const event of events) {
        if (signal.aborted) throw new ChatError('chat_cancelled', 'The chat call was cancelled');
        yield event;
      }
    }
  } finally {
    call.close();
  }
}

type BreakerParts = Pick<CallParts, 'nowMs' | 'limits' | 'report' | 'log'>;

function breakersByModel({ nowMs, limits, report, log }: BreakerParts): CallParts['breakerOf'] {
  const breakers = new Map<string, CircuitBreaker>();
  return (model) => {
    let breaker = breakers.get(model);
    if (!breaker) {
      const changed: (state: 'open' | 'half-open' | 'closed') => void = (state) => {
        log.warn({ model, breaker: state }, 'chat: the breaker changed');
        report.breakerChanged({ model, state });
      };
      breaker = new CircuitBreaker({ nowMs, limits, changed });
      breakers.set(model, breaker);
    }
    return breaker;
  };
}

export type { ChatClient };
