import { Pool, type Dispatcher } from 'undici';
import { KIB_BYTES, SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { asError } from '../../shared/coded-error.ts';
import { outgoingConnector } from '../../shared/http/http-agent.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { ENGINE_TIMES } from '../../shared/models/engine-times.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ServiceReport } from '../service-report.ts';
import type { UpstreamOptions } from './engine-call.ts';

/** A request that is relayed without validation. */
export interface PassedRequest {
  /** Additional headers for the engine. */
  headers: EngineHeaders;
  /** Path below the engine's base URL: `embeddings`, `audio/speech`. */
  path: string;
  contentType: string;
  accept: string;
  body: Buffer;
}

/** The engine's response, relayed as it arrives. */
export interface PassedAnswer {
  contentType: string;
  body: Dispatcher.ResponseData['body'];
}

/** Relays requests whose content this service does not interpret. */
export interface PassThrough {
  /** @throws ChatApiError for any status other than 200 */
  send(request: PassedRequest, signal: AbortSignal): Promise<PassedAnswer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
/** Images and speech take long. */
const FIRST_BYTE_TIMEOUT_MS = 300 * SECOND_MS;
/** Maximum bytes of an error response that are read so that its connection can be reused. */
const MAX_REFUSAL_BYTES = 64 * KIB_BYTES;

export function createPassThrough({ url, key }: UpstreamOptions, report: ServiceReport): PassThrough {
  const base = new URL(url);
  const basePath = base.pathname.replace(/(?<!\/)\/+$/, '');
  const pool = new Pool(base.origin, {
    connect: outgoingConnector({ timeoutMs: CONNECT_TIMEOUT_MS }),
    headersTimeout: FIRST_BYTE_TIMEOUT_MS,
    bodyTimeout: ENGINE_TIMES.idleMs,
  });
  const own = definedOnly({ authorization: key === undefined ? undefined : `Bearer ${key}` });
  return {
    async send({ path, headers: more, contentType, accept, body }, signal) {
      const headers = { ...more, 'content-type': contentType, accept, ...own };
      const answer = await pool
        .request({ path: `${basePath}/${path}`, method: 'POST', headers, body, signal })
        .catch((cause: unknown) => {
          throw new ChatApiError('unavailable', 'The engine behind this service does not answer', {
            retryAfterSec: 5,
            cause: asError(cause),
          });
        });
      if (answer.statusCode !== 200) {
        await answer.body.dump({ limit: MAX_REFUSAL_BYTES });
        throw refusalOf(answer.statusCode, report);
      }
      return { contentType: String(answer.headers['content-type'] ?? 'application/octet-stream'), body: answer.body };
    },
    close: () => pool.destroy(),
  };
}

/** The engine's message is not passed on: it may contain its address, its key or its owner. */
function refusalOf(status: number, report: ServiceReport): ChatApiError {
  if (status === 429)
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service is busy; try again later', {
      retryAfterSec: 1,
    });
  if (status === 413)
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  if (status === 404)
    return new ChatApiError('unknown_address', 'The engine behind this service does not offer this, or not this model');
  if ([400, 415, 422].includes(status))
    return new ChatApiError('engine_refused', 'The engine behind this service refused the request');
  const refusal = new ChatApiError('unavailable', `The engine behind this service cannot answer (status ${status})`, {
    retryAfterSec: 5,
  });
  // Our key or address is wrong. The caller cannot fix that; the operator can.
  if (status >= 400 && status < 500) report.failed('chat', refusal);
  return refusal;
}
