import type { Registry } from 'prom-client';
import type { Log } from '../../shared/log.ts';
import type { ChatReport } from '../model/chat-types.ts';
import { counter, durations, gauge, SLOW_BUCKETS_SEC } from './instruments.ts';

export function reportChat(registry: Registry, log: Log): ChatReport {
  const calls = durations(registry, {
    name: 'chat_call_duration_seconds',
    help: 'HTTP calls to the chat service; the count by outcome is the number of calls',
    labels: ['model', 'outcome'],
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const firstEvents = durations(registry, {
    name: 'chat_first_event_seconds',
    help: 'Time from a call to the first output of the model',
    labels: ['model'],
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const retries = counter(registry, { name: 'chat_retries_total', help: 'Repeated calls', labels: ['model', 'code'] });
  const waits = durations(registry, {
    name: 'chat_wait_seconds',
    help: 'Time that questions waited for the chat service: for capacity, for an unreachable service, for a model that loads',
    labels: ['model', 'reason'],
    bucketsSec: SLOW_BUCKETS_SEC,
  });
  const limits = gauge(registry, {
    name: 'chat_concurrency_limit_connections',
    help: "Concurrent calls that a model's engine was found to serve; 0 until it has refused one",
    labels: ['model'],
  });
  const breakers = counter(registry, {
    name: 'chat_breaker_changes_total',
    help: 'State changes of the circuit breaker for a failing chat service',
    labels: ['model', 'state'],
  });
  const openBreakers = gauge(registry, {
    name: 'chat_open_breakers',
    help: '1 from the opening of the circuit breaker of a model in this process until a call succeeds again, else 0',
    labels: ['model'],
  });
  const tokens = counter(registry, {
    name: 'chat_tokens_total',
    help: "Tokens by the chat service's own count, of prompts (prompt) and answers (completion)",
    labels: ['model', 'kind'],
  });
  const fallbacks = counter(registry, {
    name: 'chat_fallbacks_total',
    help: 'Questions answered by the fallback model, by the unavailable model and the reason',
    labels: ['model', 'fallback', 'code'],
  });
  const unknownReasons = counter(registry, {
    name: 'chat_unknown_finish_reasons_total',
    help: 'Answers with a finish reason that this version does not know',
    labels: ['model'],
  });
  return {
    callEnded({ model, trace, outcome, durationMs, firstEventMs, inputTokens, outputTokens }) {
      calls({ model, outcome }, durationMs);
      if (firstEventMs !== undefined) firstEvents({ model }, firstEventMs);
      if (inputTokens !== undefined) tokens({ model, kind: 'prompt' }, inputTokens);
      if (outputTokens !== undefined) tokens({ model, kind: 'completion' }, outputTokens);
      log.debug({ model, trace, outcome, durationMs, firstEventMs, inputTokens, outputTokens }, 'chat call ended');
    },
    retried({ model, trace, code, status, waitMs }) {
      retries({ model, code });
      log.info({ model, trace, code, status, waitMs }, 'a chat call is repeated');
    },
    waited({ model, trace, reason, waitMs }) {
      waits({ model, reason }, waitMs);
      log.debug({ model, trace, reason, waitMs }, 'a question waited for the chat service');
    },
    limitChanged({ model, limit }) {
      limits(limit, { model });
    },
    breakerChanged({ model, state }) {
      breakers({ model, state });
      openBreakers(state === 'closed' ? 0 : 1, { model });
      log[state === 'open' ? 'error' : 'info'](
        { model, state },
        'the circuit breaker of the chat service changed its state',
      );
    },
    fellBack({ model, trace, fallback, code }) {
      fallbacks({ model, fallback, code });
      log.info({ model, trace, fallback, code }, 'the fallback model answers');
    },
    unknownFinishReason({ model, trace }) {
      unknownReasons({ model });
      log.info({ model, trace }, 'the chat service sent an unknown finish reason');
    },
  };
}
