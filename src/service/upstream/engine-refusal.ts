import { HOUR_MS, SECOND_MS, type NowMs } from '../../base/clock.ts';
import type { HttpHeaders } from '../../base/http-exchange.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { imagesOf } from '../chat/chat-message.ts';
import type { ServiceReport } from '../service-report.ts';

const MAX_WAIT_SEC = HOUR_MS / SECOND_MS;

export interface Refusal {
  statusCode: number;
  headers: HttpHeaders;
  /** The beginning of what the engine says about it. */
  words: string;
}

export interface RefusalContext {
  request: ChatRequest;
  nowMs: NowMs;
  report: ServiceReport;
}

/**
 * What an engine's answer other than 200 means to the caller. The engine's own words are read to find which field it cannot do,
 * but never passed on: they may name its address, its key or its owner.
 */
export function readRefusal(
  { statusCode, headers, words }: Refusal,
  { request, nowMs, report }: RefusalContext,
): ChatApiError {
  const retryAfterSec = secondsToWait(headers['retry-after'], nowMs());
  if (statusCode === 429)
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service asks to wait', {
      retryAfterSec: retryAfterSec ?? 1,
    });
  if (statusCode === 413)
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  const field = findField(words, request);
  if (field && ABOUT_THE_REQUEST.has(statusCode))
    return new ChatApiError('invalid_value', `The engine behind this service cannot do ${field.what}`, {
      param: field.param,
    });
  if (statusCode === 400 || statusCode === 422)
    return new ChatApiError('engine_refused', 'The engine behind this service refused the request');
  const refusal = new ChatApiError(
    'unavailable',
    `The engine behind this service cannot answer (status ${statusCode})`,
    { retryAfterSec: retryAfterSec ?? 5 },
  );
  // Our key, our address or our model's name is wrong. The caller can do nothing about it, the operator can.
  if (statusCode >= 400 && statusCode < 500) report.failed('chat', refusal);
  return refusal;
}

/** llama.cpp answers 500 or 501 where it was started without tools or images. */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([400, 415, 422, 500, 501]);

interface Field {
  param: string;
  what: string;
  words: RegExp;
}

const CANNOT =
  /not (?:\w+ )?(?:support|permit|allow|accept|expect|multimodal|enabled|a multimodal)|unsupported|requires|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|extra_forbidden|invalid_request|no .{0,20}(?:parser|template)/i;

/** Fields that the request holds and that not every engine knows, the most particular first. */
function doubtfulFields({ tools, thinking, reasoningEffort, messages }: ChatRequest): Field[] {
  const fields: Field[] = [];
  if (reasoningEffort !== undefined)
    fields.push({ param: 'reasoning_effort', what: 'reasoning_effort', words: /reasoning[_ ]effort/i });
  if (thinking !== undefined) fields.push({ param: 'thinking', what: 'thinking', words: /think|reasoning/i });
  if (tools.length > 0)
    fields.push({ param: 'tools', what: 'tools', words: /\btools?\b|\btool[_ ]|function[_ ]call/i });
  const index = messages.findIndex((message) => imagesOf(message).length > 0);
  if (index >= 0)
    fields.push({
      param: `messages[${index}].content`,
      what: 'images',
      words: /image|vision|multi-?modal|mmproj/i,
    });
  return fields;
}

function findField(words: string, request: ChatRequest): Field | undefined {
  return CANNOT.test(words) ? doubtfulFields(request).find((field) => field.words.test(words)) : undefined;
}

/** `Retry-After` as seconds or as an HTTP date; undefined where it makes no sense. */
function secondsToWait(value: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / SECOND_MS;
  return Number.isFinite(seconds) ? Math.min(MAX_WAIT_SEC, Math.max(1, Math.ceil(seconds))) : undefined;
}
