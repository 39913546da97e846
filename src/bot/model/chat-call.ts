import { asError } from '../../shared/coded-error.ts';
import type { SpanAttributes } from '../../shared/tracing/span.ts';
import { describeSpan, inSpan, isTracing } from '../../shared/tracing/tracing.ts';
import { AnswerWatch } from './stream/answer-watch.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatEvent, ChatRequest, EndReason, OnChatEvent } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import type { BreakerPass } from './circuit-breaker.ts';
import type { CapacityPermit } from './engine-capacity.ts';
import { openAnswer } from './open-answer.ts';
import { readRefusal } from './refused-fields.ts';
import type { DecoderLimits } from './stream/stream-decoder.ts';

export interface CallOptions {
  request: ChatRequest;
  /** Body of the request. */
  fields: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  pass: BreakerPass;
  permit: Pick<CapacityPermit, 'accepted'> | undefined;
  /** Remaining time for all attempts. */
  totalMs: number;
  onEvent: OnChatEvent;
}

/** One HTTP call to the chat service. Reports its outcome once to the breaker, the log and the metrics. */
export class ChatCall {
  readonly #parts: CallParts;
  readonly #options: CallOptions;
  readonly #watch: AnswerWatch;
  readonly #startedMs: number;
  #firstEventMs: number | undefined;
  #inputTokens: number | undefined;
  #outputTokens: number | undefined;
  #endReason: EndReason | undefined;
  #listenersError: Error | undefined;

  constructor(parts: CallParts, options: CallOptions) {
    const { request, signal, totalMs } = options;
    this.#parts = parts;
    this.#options = options;
    this.#startedMs = parts.monotonicMs();
    const { idleMs = parts.limits.idleMs } = parts.catalog.of(request.model);
    const limits = { ...parts.limits, idleMs };
    this.#watch = new AnswerWatch({ limits, firstByteMs: firstByteMs(parts, request), totalMs, signal });
  }

  /** Whether the listener received an event. */
  get hasSpoken(): boolean {
    return this.#firstEventMs !== undefined;
  }

  /**
   * Sends the request and streams the answer to the listener up to the `end` event. @throws ChatError, or the listener's
   * error; either one frees the connection
   */
  run(): Promise<void> {
    if (!isTracing()) return this.#run();
    const { model } = this.#options.request;
    return inSpan(`chat ${model}`, { kind: 'client', attributes: attributesOf(this.#parts.url, model) }, () =>
      this.#run(),
    );
  }

  async #run(): Promise<void> {
    const { url, apiKey, agent: dispatcher, nowMs } = this.#parts;
    const { request, fields, pass, permit } = this.#options;
    const hint = this.#scheduleLoadingHint();
    try {
      const reader = await openAnswer({
        url,
        apiKey,
        headers: this.#parts.catalog.of(request.model).headers,
        dispatcher,
        nowMs,
        body: JSON.stringify(fields),
        meaningOf: (status, text) => readRefusal(status, text, fields),
        isStreamed: request.stream !== false,
        trace: request.trace,
        limits: limitsOf(this.#parts, request),
        watch: this.#watch,
        onResponseStart: () => {
          clearTimeout(hint);
          permit?.accepted();
          request.onResponseStart?.();
        },
        onEvent: (event) => this.#onEvent(event),
      });
      await reader.ended;
      if (reader.outcome === 'truncated') pass.failed(new ChatError('chat_truncated', 'The answer was interrupted'));
      else if (reader.hasUnknownReason)
        this.#parts.report.unknownFinishReason({ model: request.model, trace: request.trace });
      this.#reportEnd(reader.outcome);
    } catch (thrown) {
      throw this.#fail(thrown);
    } finally {
      clearTimeout(hint);
    }
  }

  /** A response that is not streamed begins only when complete, so its delay does not indicate loading. */
  #scheduleLoadingHint(): NodeJS.Timeout | undefined {
    const { waitPolicy, stream } = this.#options.request;
    if (waitPolicy === undefined || stream === false) return undefined;
    return setTimeout(() => waitPolicy.waits('loading'), this.#parts.limits.loadingHintMs);
  }

  #onEvent(event: ChatEvent): void {
    if (event.type === 'retract') this.#parts.refusedFields.recordThoughtFirst(this.#options.request.model);
    if (this.#firstEventMs === undefined) {
      this.#firstEventMs = this.#parts.monotonicMs() - this.#startedMs;
      this.#options.pass.succeeded();
    }
    if (event.type === 'usage') {
      this.#inputTokens = event.promptTokens;
      this.#outputTokens = event.completionTokens;
    } else if (event.type === 'end') this.#endReason = event.reason;
    try {
      this.#options.onEvent(event);
    } catch (thrown) {
      this.#listenersError = asError(thrown);
      throw this.#listenersError;
    }
  }

  #fail(thrown: unknown): Error {
    this.#watch.abort();
    if (this.#listenersError !== undefined) {
      this.#reportEnd('chat_cancelled');
      return this.#listenersError;
    }
    const error =
      thrown instanceof ChatError
        ? thrown
        : new ChatError('chat_bad_stream', 'The answer could not be read', { cause: asError(thrown) });
    const { code, status } = error;
    const { model, trace } = this.#options.request;
    this.#options.pass.failed(this.#isForLoad(error) ? new ChatError('chat_rate_limited', error.message) : error);
    if (code === 'chat_refused')
      this.#parts.log.error({ code, status, trace }, 'chat: the service refused our key: correct CHAT_API_KEY');
    else if (code === 'chat_local_limit')
      this.#parts.log.error(
        { error, trace },
        'chat: this process has no file descriptors or ports left for calls: raise its limit of open files',
      );
    else if (code === 'chat_quota_spent')
      this.#parts.log.error({ code, status, trace }, 'chat: the account at the service has no quota or balance left');
    else if (code !== 'chat_cancelled') this.#parts.log.warn({ error, status, model, trace }, 'chat: a call failed');
    this.#reportEnd(code);
    return error;
  }

  /** An engine that answers 503 while it serves other calls is full. The breaker does not count this as a fault. */
  #isForLoad({ code, status }: ChatError): boolean {
    const { engines } = this.#parts;
    const isUnavailable = code === 'chat_server_error' && status === 503;
    return isUnavailable && engines.capacityOf(this.#options.request.model)?.isServing === true;
  }

  #reportEnd(outcome: string): void {
    const durationMs = this.#parts.monotonicMs() - this.#startedMs;
    const { request } = this.#options;
    const { model, trace } = request;
    const [inputTokens, outputTokens, firstEventMs] = [this.#inputTokens, this.#outputTokens, this.#firstEventMs];
    const ended = { model, trace, outcome, durationMs, firstEventMs, inputTokens, outputTokens };
    this.#parts.report.callEnded(ended);
    request.onCallEnd?.(ended);
    if (isTracing())
      describeSpan({
        'gen_ai.usage.input_tokens': inputTokens,
        'gen_ai.usage.output_tokens': outputTokens,
        'gen_ai.response.finish_reasons': this.#endReason && [this.#endReason],
        'parley.first_event_ms': firstEventMs && Math.round(firstEventMs),
        'parley.outcome': outcome,
      });
  }
}

/** The standard attributes of a model call. Its request and its answer are never recorded. */
function attributesOf({ hostname, port, protocol }: URL, model: string): SpanAttributes {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'gen_ai.output.type': 'text',
    'server.address': hostname,
    'server.port': Number(port === '' ? DEFAULT_PORTS[protocol] : port),
  };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

function limitsOf({ limits, catalog, refusedFields }: CallParts, request: ChatRequest): DecoderLimits {
  const { model, maxAnswerChars = limits.maxAnswerChars } = request;
  return {
    maxLineChars: limits.maxLineChars,
    maxAnswerChars: Math.min(limits.maxAnswerChars, maxAnswerChars),
    offered: toolsOf(request),
    thoughtFirst: catalog.of(model).thoughtFirst || refusedFields.thinksFirst(model),
  };
}

/** Tools offered now or called earlier: a model that may not call any more tools may still try. */
function toolsOf({ tools = [], messages }: ChatRequest): ReadonlySet<string> {
  const called = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return new Set([...tools, ...called].map(({ name }) => name));
}

function firstByteMs({ limits, catalog }: CallParts, { model, thinking, stream }: ChatRequest): number {
  const mayThink = thinking !== undefined && thinking !== 'off';
  const own = catalog.of(model).firstByteMs ?? limits.firstByteMs;
  return mayThink || stream === false ? Math.max(own, limits.firstByteThinkingMs) : own;
}
