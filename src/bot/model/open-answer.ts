import type { Dispatcher } from 'undici';
import { type NowMs, KIB_BYTES } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { Deferred } from '../../shared/deferred.ts';
import { withFailPoints } from '../../shared/fail-point.ts';
import { traceparent } from '../../shared/tracing/tracing.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { HttpExchange, type HttpHeaders } from '../../shared/http/http-exchange.ts';
import { AnswerReader } from './stream/answer-reader.ts';
import type { AnswerWatch } from './stream/answer-watch.ts';
import type { OnChatEvent } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import type { RefusalMeaning } from './refused-fields.ts';
import { SniffingDecoder, type DecoderLimits } from './stream/stream-decoder.ts';
import { retryAfterIn } from '../../shared/models/retry-after.ts';
import { mapHttpStatus } from './map-http-status.ts';

export interface HttpCall {
  url: URL;
  apiKey: string;
  headers: EngineHeaders;
  body: string;
  isStreamed: boolean;
  /** Sent to the service as `X-Request-Id`. */
  trace: string | undefined;
  dispatcher: Dispatcher;
  watch: AnswerWatch;
  limits: DecoderLimits;
  nowMs: NowMs;
  /** Interprets a refusal of the request from its status and body. */
  meaningOf(status: number, text: string): RefusalMeaning;
  /** Called when the response of the service begins, before any event. */
  onResponseStart(): void;
  onEvent: OnChatEvent;
}

/** Sends one request and checks the status of its response. @returns the reader of the body. @throws ChatError */
export function openAnswer(call: HttpCall): Promise<AnswerReader> {
  return withFailPoints('chat.completions', () => send(call));
}

function send(call: HttpCall): Promise<AnswerReader> {
  const opened = new Deferred<AnswerReader>();
  const { url, apiKey, headers: more, body, isStreamed, trace, dispatcher, watch, nowMs, meaningOf } = call;
  let reader: AnswerReader | ErrorBodyReader | undefined;
  const exchange = new HttpExchange({
    onHead(status, headers) {
      if (status !== 200)
        reader = new ErrorBodyReader({
          ...{ status, headers, watch, nowMs, meaningOf },
          onFailure: (failure) => opened.reject(failure),
        });
      else {
        call.onResponseStart();
        // The content determines the format, not the `Content-Type`.
        reader = new AnswerReader({
          decoder: new SniffingDecoder(call.limits),
          watch: call.watch,
          onEvent: call.onEvent,
        });
        opened.resolve(reader);
      }
    },
    onBytes: (bytes) => reader?.onBytes(bytes),
    onEnd(cause) {
      if (reader) reader.onEnd(cause);
      else opened.reject(watch.failure ?? unreachable(cause));
    },
  });
  watch.onFailure((failure) => exchange.abort(failure));
  exchange.send(dispatcher, {
    url,
    method: 'POST',
    headers: definedOnly({
      ...more,
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: isStreamed ? 'text/event-stream' : 'application/json',
      'x-request-id': trace,
      traceparent: traceparent(),
    }),
    body,
  });
  return opened.promise;
}

/** The process or its machine has no file descriptors, ports or buffers left; the service is not at fault. */
const LOCAL_LIMITS = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM']);

function unreachable(cause: Error | undefined): ChatError {
  if (cause !== undefined && 'code' in cause && LOCAL_LIMITS.has(String(cause.code)))
    return new ChatError('chat_local_limit', 'This process has no file descriptors or ports for another connection', {
      isRetryable: true,
      cause,
    });
  return new ChatError('chat_unreachable', 'The chat service could not be reached', { isRetryable: true, cause });
}

/** Maximum bytes of an error body that are read to find its error code. */
const MAX_ERROR_BYTES = 64 * KIB_BYTES;

interface ErrorBodyReaderOptions {
  status: number;
  headers: HttpHeaders;
  watch: AnswerWatch;
  nowMs: NowMs;
  /** Interprets a refusal of the request from its status and body. */
  meaningOf(status: number, text: string): RefusalMeaning;
  /** Called once with the error for the response. */
  onFailure(failure: ChatError): void;
}

/** Reads a response with a status other than 200 and derives its error. */
class ErrorBodyReader {
  readonly #options: ErrorBodyReaderOptions;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: ErrorBodyReaderOptions) {
    this.#options = options;
  }

  onBytes(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_ERROR_BYTES) this.onEnd();
    else this.#pieces.push(bytes);
  }

  /** A broken connection does not matter, since the status alone is sufficient, unless the caller cancelled the call. */
  onEnd(): void {
    const { status, headers, watch, nowMs, meaningOf, onFailure } = this.#options;
    const retryAfterMs = retryAfterIn(headers, nowMs);
    const text = Buffer.concat(this.#pieces).toString('utf8');
    const wasCancelled = watch.failure?.code === 'chat_cancelled';
    onFailure(
      wasCancelled ? watch.failure : mapHttpStatus(status, { retryAfterMs, body: text, ...meaningOf(status, text) }),
    );
  }
}
