import { HOUR_MS, SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { HttpHeaders } from '../../shared/http/http-exchange.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { imagesOf } from '../chat/chat-message.ts';
import { classifyEngineError, type EngineErrorKind } from '../../shared/models/engine-error.ts';
import { findRefusedFields, statesUnsupported } from '../../shared/models/refusal-words.ts';
import { retryAfterIn } from '../../shared/models/retry-after.ts';
import type { ServiceReport } from '../service-report.ts';

const MAX_WAIT_SEC = HOUR_MS / SECOND_MS;

export interface Refusal {
  statusCode: number;
  headers: HttpHeaders;
  /** Beginning of the engine's error message. */
  words: string;
}

export interface RefusalContext {
  request: ChatRequest;
  nowMs: NowMs;
  report: ServiceReport;
}

/**
 * Maps an engine's response other than 200 to an error for the caller. The engine's message is read to find the field that
 * it rejects, but never passed on: it may contain its address, its key or its owner.
 */
export function readRefusal(
  { statusCode, headers, words }: Refusal,
  { request, nowMs, report }: RefusalContext,
): ChatApiError {
  const { kind, retryAfterMs } = classifyEngineError(statusCode, words);
  const retryAfterSec = wholeSeconds(retryAfterIn(headers, nowMs) ?? retryAfterMs);
  if (kind === 'limited')
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service is busy; try again later', {
      retryAfterSec: retryAfterSec ?? 1,
    });
  if (kind === 'too-long')
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  if (kind === 'loading')
    return new ChatApiError('unavailable', 'The engine behind this service is loading the model', {
      retryAfterSec: retryAfterSec ?? 5,
    });
  if (kind === 'content-filter')
    return new ChatApiError(
      'engine_refused',
      'The content filter of the engine behind this service refused the request',
    );
  const field = findField(words, request);
  if (field && ABOUT_THE_REQUEST.has(statusCode))
    return new ChatApiError('invalid_value', `The engine behind this service does not support ${field.what}`, {
      param: field.param,
    });
  if (!OPERATORS.has(kind) && (statusCode === 400 || statusCode === 422))
    return new ChatApiError('engine_refused', 'The engine behind this service refused the request');
  const refusal = new ChatApiError(
    'unavailable',
    `The engine behind this service cannot answer (status ${statusCode})`,
    { retryAfterSec: retryAfterSec ?? 5 },
  );
  // The key, the balance, the address or the model's name is wrong. Only the operator can change that.
  if (OPERATORS.has(kind) || (statusCode >= 400 && statusCode < 500)) report.failed('chat', refusal);
  return refusal;
}

const OPERATORS: ReadonlySet<EngineErrorKind> = new Set(['quota', 'unauthorised', 'unknown-model']);

/** llama.cpp answers 500 or 501 if it was started without tools or images. */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([400, 415, 422, 500, 501]);

interface Field {
  param: string;
  what: string;
}

/** Fields that every request needs. */
const NEVER_MEANT: ReadonlySet<string> = new Set(['model', 'messages', 'stream']);

/** The sent field that the engine's message is about; images are part of the messages. */
function findField(words: string, { written, tools, messages }: ChatRequest): Field | undefined {
  const sent = Object.keys(written).filter((name) => !NEVER_MEANT.has(name));
  if (!statesUnsupported(words)) {
    // A name that is not an ordinary word counts anywhere in the message.
    const name = sent.find((one) => one.includes('_') && words.includes(one));
    return name === undefined ? undefined : { param: name, what: `this value of ${name}` };
  }
  const [meant] = findRefusedFields(words, tools.length > 0 ? [...sent, 'tools'] : sent);
  if (meant !== undefined) return { param: meant, what: meant };
  const index = messages.findIndex((message) => imagesOf(message).length > 0);
  const isAboutImages = index >= 0 && /image|vision|multi-?modal|mmproj/i.test(words);
  return isAboutImages ? { param: `messages[${index}].content`, what: 'images' } : undefined;
}

function wholeSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(MAX_WAIT_SEC, Math.max(1, Math.ceil(ms / SECOND_MS)));
}
