import { request, type Dispatcher } from 'undici';
import { KIB_BYTES, type NowMs } from '../base/clock.ts';
import { outsideCall } from '../base/fail-point.ts';
import { AnswerReader } from './answer-reader.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { OnChatEvent } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import { parseObject } from './completion-chunk.ts';
import { failureOfStatus, readRetryAfter } from './failure-of-status.ts';
import { StreamDecoder, WholeDecoder, type AnswerDecoder, type DecoderLimits } from './stream-decoder.ts';

/** An error's body is read this far, for the code in it. */
const MAX_ERROR_BYTES = 64 * KIB_BYTES;

export interface HttpCall {
  url: string;
  apiKey: string;
  body: string;
  isStreamed: boolean;
  dispatcher: Dispatcher;
  watch: AnswerWatch;
  limits: DecoderLimits;
  nowMs: NowMs;
  onEvent: OnChatEvent;
}

/** Sends one request and judges the head of its answer. @returns what reads the rest. @throws ChatError */
export async function openAnswer(call: HttpCall): Promise<AnswerReader> {
  const response = await send(call);
  const { statusCode, headers, body } = response;
  if (statusCode !== 200) throw await readFailure(call, response);
  const contentType = String(headers['content-type'] ?? '').toLowerCase();
  if (contentType.includes('html'))
    throw new ChatError('chat_bad_stream', 'The chat service answered with a page', { status: 200 });
  const decoder: AnswerDecoder = contentType.includes('json')
    ? new WholeDecoder(call.limits)
    : new StreamDecoder(call.limits);
  return new AnswerReader(body, { decoder, watch: call.watch, onEvent: call.onEvent });
}

async function send({ url, apiKey, body, isStreamed, dispatcher, watch }: HttpCall): Promise<Dispatcher.ResponseData> {
  try {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: isStreamed ? 'text/event-stream' : 'application/json',
    };
    return await outsideCall('chat.completions', () =>
      request(url, { method: 'POST', headers, body, dispatcher, signal: watch.signal }),
    );
  } catch (cause) {
    throw (
      watch.failure ??
      new ChatError('chat_unreachable', 'The chat service could not be reached', { isRetryable: true, cause })
    );
  }
}

async function readFailure(
  { nowMs, watch }: HttpCall,
  { statusCode, headers, body }: Dispatcher.ResponseData,
): Promise<ChatError> {
  const retryAfter = headers['retry-after'];
  const retryAfterMs = readRetryAfter(typeof retryAfter === 'string' ? retryAfter : undefined, nowMs);
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MAX_ERROR_BYTES) break;
      pieces.push(piece);
    }
  } catch {
    // The status alone is enough; unless it was we who ended the call.
    if (watch.failure?.code === 'chat_cancelled') return watch.failure;
  }
  const errorObject = parseObject(Buffer.concat(pieces).toString('utf8'))?.['error'];
  return failureOfStatus(statusCode, { retryAfterMs, errorCode: errorCodeOf(errorObject) });
}

function errorCodeOf(errorObject: unknown): string | undefined {
  if (typeof errorObject !== 'object' || errorObject === null || !('code' in errorObject)) return undefined;
  return typeof errorObject.code === 'string' ? errorObject.code : undefined;
}
