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
import { broken } from './engine-events.ts';
import { readRefusal, type RefusalContext } from './engine-refusal.ts';
import { foldRoles } from '../../shared/models/fold-roles.ts';

/** Fields of a former web search of the interface, which was withdrawn (SERVICE.md withdrawn-search). */
const WITHDRAWN: ReadonlySet<string> = new Set(['web_search', 'enable_search', 'search_options']);

/**
 * The request for an OpenAI-compatible engine: the caller's fields, with the engine's model name and the model's own
 * defaults. Null means omitted.
 */
function toEngineBody(request: ChatRequest, engineModel: string | undefined): object {
  const { model, written, messages, stream, tools } = request;
  const { temperature, topP } = model.defaults;
  const body: Record<string, unknown> = {
    temperature,
    top_p: topP,
    ...withoutNulls(written),
    model: engineModel ?? model.upstream,
    messages: foldRoles(messages, model.roles),
    stream,
    tools: tools.length === 0 ? undefined : tools.map(({ declaration }) => declaration),
    stream_options: stream ? (written['stream_options'] ?? undefined) : undefined,
  };
  const isLeftOut = (field: string) =>
    WITHDRAWN.has(field) || model.omit.has(field) || (field === 'tool_choice' && tools.length === 0);
  return Object.fromEntries(Object.entries(body).filter(([field]) => REQUIRED.has(field) || !isLeftOut(field)));
}

const REQUIRED = new Set(['model', 'messages', 'stream']);

function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

export interface UpstreamOptions {
  /** Base URL of the engine; `/chat/completions` is appended. */
  url: string;
  /** Sent as bearer token; never logged or shown. */
  key?: string;
  /** Maps our model names to the engine's. */
  models: Readonly<Record<string, string>>;
  /** Additional request fields to relay (SECURITY.md relayed-fields). */
  relayedFields?: readonly string[];
  /** Whether http and https URLs of images are sent to the engine, which then fetches them. */
  imageAddresses?: boolean;
  /** Maximum wait for the beginning of an answer, for models that set none. Default 120 s. */
  firstByteMs?: number;
  /** Maximum pause within an answer, for models that set none. Default 60 s. */
  idleMs?: number;
}

/** Functions of the service that the engine client needs. */
export interface UpstreamEnvironment {
  nowMs: NowMs;
  report: ServiceReport;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
const MAX_REPLY_BYTES = 16 * MIB_BYTES;
/** Limits for reading the beginning of an error response, in case the engine does not end it. */
const MAX_ERROR_BODY_BYTES = 16 * KIB_BYTES;
const ERROR_BODY_TIMEOUT_MS = 2 * SECOND_MS;

export interface EngineListener {
  /** An answer of status 200 begins; `exchange` can pause or abort the engine. @throws ChatApiError to reject the answer */
  onHead(contentType: string, exchange: HttpExchange): void;
  /** Bytes as they arrive. Must not throw. */
  onBytes(bytes: Buffer): void;
}

/** HTTP client of one engine. */
export interface EngineCall {
  /** Relays the engine's answer of status 200. @returns after its end. @throws ChatApiError */
  send(request: ChatRequest, signal: AbortSignal, listener: EngineListener): Promise<void>;
  close(): Promise<void>;
}

export function createEngineCall(options: UpstreamOptions, surroundings: UpstreamEnvironment): EngineCall {
  const url = new URL(options.url);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/chat/completions`;
  url.search = '';
  // One connection per open request. The keys' limits bound them, and a queued request could wait indefinitely.
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
      const headers = { ...request.model.headers, ...(request.stream ? streamHeaders : wholeHeaders) };
      const body = JSON.stringify(toEngineBody(request, options.models[request.model.name]));
      const sent = new EngineExchange({ request, ...surroundings }, { signal, listener });
      const { model } = request;
      const silence = { firstByteMs: model.firstByteMs ?? firstByteMs, idleMs: model.idleMs ?? idleMs };
      sent.exchange.send(pool, { url, method: 'POST', headers, body, silence });
      return sent.ended;
    },
    close: () => pool.destroy(),
  };
}

/** One request and its response: an answer is relayed, an error response is read. */
class EngineExchange {
  readonly exchange: HttpExchange;
  readonly #ended = new Deferred();
  /** Released once the engine responds: with images the request may be large, and an answer takes long. */
  #context: RefusalContext | undefined;
  #refusal: { statusCode: number; headers: HttpHeaders; parts: Buffer[]; bytes: number } | undefined;
  #errorBodyTimer: NodeJS.Timeout | undefined;

  constructor(context: RefusalContext, { signal, listener }: { signal: AbortSignal; listener: EngineListener }) {
    this.#context = context;
    const leave = (): void => this.exchange.abort(new Error('The client disconnected'));
    this.exchange = new HttpExchange({
      onHead: (statusCode, headers) => {
        if (statusCode === 200) {
          this.#context = undefined;
          return listener.onHead(String(headers['content-type'] ?? ''), this.exchange);
        }
        this.#refusal = { statusCode, headers, parts: [], bytes: 0 };
        this.#errorBodyTimer = setTimeout(
          () => this.exchange.abort(new Error('The maximum answer length was reached')),
          ERROR_BODY_TIMEOUT_MS,
        );
      },
      onBytes: (bytes) => (this.#refusal ? this.#listen(this.#refusal, bytes) : listener.onBytes(bytes)),
      onEnd: (cause) => {
        signal.removeEventListener('abort', leave);
        clearTimeout(this.#errorBodyTimer);
        const error = this.#errorOf(cause);
        if (error) this.#ended.reject(error);
        else this.#ended.resolve();
      },
    });
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  }

  /** Resolves when a complete answer has ended. Rejects with a ChatApiError. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  #listen(refusal: { parts: Buffer[]; bytes: number }, bytes: Buffer): void {
    refusal.parts.push(bytes);
    refusal.bytes += bytes.length;
    if (refusal.bytes > MAX_ERROR_BODY_BYTES) this.exchange.abort(new Error('The maximum answer length was reached'));
  }

  #errorOf(cause: Error | undefined): ChatApiError | undefined {
    if (this.#refusal && this.#context) {
      const words = Buffer.concat(this.#refusal.parts).subarray(0, MAX_ERROR_BODY_BYTES).toString();
      return readRefusal({ ...this.#refusal, words }, this.#context);
    }
    if (cause === undefined || cause instanceof ChatApiError) return cause;
    if (this.#context) return broken('The engine behind this service cannot be reached', cause);
    return broken('The engine ended its answer early', cause);
  }
}
