import { KIB_BYTES, type NowMs } from '../../shared/clock.ts';
import type { HttpHeaders } from '../../shared/http/http-exchange.ts';
import { retryAfterIn } from '../../shared/models/retry-after.ts';
import type { AnswerWatch } from './stream/answer-watch.ts';
import type { ChatError } from './chat-error.ts';
import { mapHttpStatus } from './map-http-status.ts';
import type { RefusalMeaning } from './refused-fields.ts';

/** Maximum bytes of an error body that are read to find its error code. */
const MAX_ERROR_BYTES = 64 * KIB_BYTES;

export interface ErrorBodyReaderOptions {
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
export class ErrorBodyReader {
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
