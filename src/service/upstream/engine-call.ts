import { Pool } from 'undici';
import { KIB_BYTES, MIB_BYTES, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import { Deferred } from '../../shared/deferred.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { outgoingConnector } from '../../shared/http/http-agent.ts';
import { HttpExchange, type HttpHeaders } from '../../shared/http/http-exchange.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { ServiceReport } from '../service-report.ts';
import { ENGINE_TIMES } from '../../shared/models/engine-times.ts';
import { toEngineBody } from './engine-body.ts';
import { broken } from './engine-events.ts';
import { readRefusal, type RefusalContext } from './engine-refusal.ts';

export interface UpstreamOptions {
  /** The engine's base address; `/chat/completions` is added. */
  url: string;
  /** Sent as bearer token; never logged, never shown. */
  key?: string;
  /** Our model names to the engine's. */
  models: Readonly<Record<string, string>>;
  /** Further request fields that it is given (SECURITY.md relayed-fields). */
  relayedFields?: readonly string[];
  /** Whether it may be sent http and https addresses of images, which it then fetches. */
  imageAddresses?: boolean;
  /** The longest wait for the answer to begin, for models that name none. Default 120 s. */
  firstByteMs?: number;
  /** The longest pause within an answer, for models that name none. Default 60 s. */
  idleMs?: number;
}

/** What the engine's side needs of the service. */
export interface UpstreamEnvironment {
  nowMs: NowMs;
  report: ServiceReport;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
const MAX_REPLY_BYTES = 16 * MIB_BYTES;
/** The beginning of a refusal's words, for as long as an engine that does not come to an end is listened to. */
const MAX_WORDS_BYTES = 16 * KIB_BYTES;
const MAX_WORDS_MS = 2 * SECOND_MS;

export interface EngineListener {
  /** An answer of status 200 begins; `exchange` lets the engine wait, or gives it up. @throws ChatApiError to do without it */
  onHead(contentType: string, exchange: HttpExchange): void;
  /** Bytes as they come. Must not throw. */
  onBytes(bytes: Buffer): void;
}

/** The HTTP side of one engine. */
export interface EngineCall {
  /** Hands on the engine's answer of status 200. @returns after its end. @throws ChatApiError */
  send(request: ChatRequest, signal: AbortSignal, listener: EngineListener): Promise<void>;
  close(): Promise<void>;
}

export function createEngineCall(options: UpstreamOptions, surroundings: UpstreamEnvironment): EngineCall {
  const url = new URL(options.url);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/chat/completions`;
  url.search = '';
  // As many connections as requests are open: the keys' limits bound them, and a request in a queue would wait without end.
  const pool = new Pool(url.origin, {
    connect: outgoingConnector({ timeoutMs: CONNECT_TIMEOUT_MS }),
    maxResponseSize: MAX_REPLY_BYTES,
  });
  const { firstByteMs = ENGINE_TIMES.firstByteMs, idleMs = ENGINE_TIMES.idleMs } = options;
  const wholeHeaders = definedOnly({
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: options.key === undefined ? undefined : `Bearer ${options.key}`,
  });
  const streamHeaders = { ...wholeHeaders, accept: 'text/event-stream' };
  return {
    send(request, signal, listener) {
      const headers = request.stream ? streamHeaders : wholeHeaders;
      const body = JSON.stringify(toEngineBody(request, options.models[request.model.name]));
      const sent = new EngineExchange({ request, ...surroundings }, { signal, listener });
      const { model } = request;
      const silence = { headersMs: model.firstByteMs ?? firstByteMs, bodyMs: model.idleMs ?? idleMs };
      sent.exchange.send(pool, { url, method: 'POST', headers, body, silence });
      return sent.ended;
    },
    close: () => pool.destroy(),
  };
}

/** One request and its answer: handed on where it is one, read where it is a refusal. */
class EngineExchange {
  readonly exchange: HttpExchange;
  readonly #ended = new Deferred();
  /** Let go once the engine answers: with images the request may be large, and an answer takes long. */
  #context: RefusalContext | undefined;
  #refusal: { statusCode: number; headers: HttpHeaders; parts: Buffer[]; bytes: number } | undefined;
  #wordsTimer: NodeJS.Timeout | undefined;

  constructor(context: RefusalContext, { signal, listener }: { signal: AbortSignal; listener: EngineListener }) {
    this.#context = context;
    const leave = (): void => this.exchange.abort(new Error('The client has left'));
    this.exchange = new HttpExchange({
      onHead: (statusCode, headers) => {
        if (statusCode === 200) {
          this.#context = undefined;
          return listener.onHead(String(headers['content-type'] ?? ''), this.exchange);
        }
        this.#refusal = { statusCode, headers, parts: [], bytes: 0 };
        this.#wordsTimer = setTimeout(() => this.exchange.abort(new Error('These were enough words')), MAX_WORDS_MS);
      },
      onBytes: (bytes) => (this.#refusal ? this.#listen(this.#refusal, bytes) : listener.onBytes(bytes)),
      onEnd: (cause) => {
        signal.removeEventListener('abort', leave);
        clearTimeout(this.#wordsTimer);
        const error = this.#errorOf(cause);
        if (error) this.#ended.reject(error);
        else this.#ended.resolve();
      },
    });
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  }

  /** Settles when an answer has ended whole. Rejects with a ChatApiError. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  #listen(refusal: { parts: Buffer[]; bytes: number }, bytes: Buffer): void {
    refusal.parts.push(bytes);
    refusal.bytes += bytes.length;
    if (refusal.bytes > MAX_WORDS_BYTES) this.exchange.abort(new Error('These were enough words'));
  }

  #errorOf(cause: Error | undefined): ChatApiError | undefined {
    if (this.#refusal && this.#context) {
      const words = Buffer.concat(this.#refusal.parts).subarray(0, MAX_WORDS_BYTES).toString();
      return readRefusal({ ...this.#refusal, words }, this.#context);
    }
    if (cause === undefined || cause instanceof ChatApiError) return cause;
    if (this.#context) return broken('The engine behind this service cannot be reached', cause);
    return broken('The engine broke off its answer', cause);
  }
}
