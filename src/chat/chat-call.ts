import { asError } from '../base/coded-error.ts';
import type { AnswerReader } from './answer-reader.ts';
import { AnswerWatch } from './answer-watch.ts';
import type { CallParts } from './call-parts.ts';
import type { ChatEvent, ChatRequest } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import type { BreakerPass } from './circuit-breaker.ts';
import { openAnswer } from './open-answer.ts';
import type { DecoderLimits } from './stream-decoder.ts';

export interface CallOptions {
  request: ChatRequest;
  /** The request as it is sent. */
  body: string;
  signal: AbortSignal;
  pass: BreakerPass;
  /** What is left of the time for all tries. */
  totalMs: number;
}

/** One HTTP call to the chat service: tells the breaker, the log and the counters once each how it went. */
export class ChatCall {
  readonly #parts: CallParts;
  readonly #options: CallOptions;
  readonly #watch: AnswerWatch;
  readonly #startedMs: number;
  #reader: AnswerReader | undefined;
  #firstEventMs: number | undefined;
  #isReported = false;

  constructor(parts: CallParts, options: CallOptions) {
    const { request, signal, totalMs } = options;
    this.#parts = parts;
    this.#options = options;
    this.#startedMs = parts.nowMs();
    this.#watch = new AnswerWatch({ limits: parts.limits, firstByteMs: firstByteMs(parts, request), totalMs, signal });
  }

  /** Sends the request and waits for the answer's first events. @throws ChatError, after which the connection is free */
  async start(): Promise<ChatEvent[] | undefined> {
    const { parts, options } = { parts: this.#parts, options: this.#options };
    const { url, apiKey, agent: dispatcher, nowMs } = parts;
    const { request, body } = options;
    try {
      const limits = limitsOf(parts, request);
      const isStreamed = request.stream !== false;
      this.#reader = await openAnswer({ url, apiKey, dispatcher, nowMs, body, isStreamed, limits, watch: this.#watch });
      request.began?.();
      const events = await this.#reader.next();
      this.#firstEventMs = parts.nowMs() - this.#startedMs;
      options.pass.succeeded();
      return events;
    } catch (thrown) {
      throw this.#fail(thrown);
    }
  }

  /** The next events, at least one; undefined after the end. @throws ChatError, after which the connection is free */
  async next(): Promise<ChatEvent[] | undefined> {
    try {
      return await this.#reader?.next();
    } catch (thrown) {
      throw this.#fail(thrown);
    }
  }

  /** Ends the call: the connection goes back to the others after a complete answer and is cut otherwise. */
  close(): void {
    if (this.#isReported) return;
    const outcome = this.#reader?.outcome ?? 'open';
    this.#reader?.close();
    if (outcome === 'truncated') this.#options.pass.failed(new ChatError('chat_truncated', 'The answer broke off'));
    if (outcome === 'complete' && this.#reader?.hasUnknownReason === true) {
      this.#parts.report.unknownFinishReason({ model: this.#options.request.model });
    }
    this.#reportEnd(outcome === 'open' ? 'chat_cancelled' : outcome);
  }

  #fail(thrown: unknown): ChatError {
    this.#watch.abort();
    const error =
      thrown instanceof ChatError
        ? thrown
        : new ChatError('chat_bad_stream', 'The answer could not be read', { cause: asError(thrown) });
    const { code, status } = error;
    this.#options.pass.failed(error);
    if (code === 'chat_refused') this.#parts.log.error({ code, status }, 'chat: the service refused our key');
    else if (code !== 'chat_cancelled')
      this.#parts.log.warn({ error, status, model: this.#options.request.model }, 'chat: a call failed');
    this.#reportEnd(code);
    return error;
  }

  #reportEnd(outcome: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const durationMs = this.#parts.nowMs() - this.#startedMs;
    const firstEvent = this.#firstEventMs === undefined ? {} : { firstEventMs: this.#firstEventMs };
    this.#parts.report.callEnded({ model: this.#options.request.model, outcome, durationMs, ...firstEvent });
  }
}

function limitsOf({ limits }: CallParts, { maxAnswerChars = limits.maxAnswerChars }: ChatRequest): DecoderLimits {
  return { maxLineChars: limits.maxLineChars, maxAnswerChars: Math.min(limits.maxAnswerChars, maxAnswerChars) };
}

function firstByteMs({ limits }: CallParts, { thinking, stream }: ChatRequest): number {
  const mayThink = thinking !== undefined && thinking !== 'off';
  return mayThink || stream === false ? limits.firstByteThinkingMs : limits.firstByteMs;
}
