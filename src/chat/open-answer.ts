import type { Dispatcher } from 'undici';
import type { NowMs } from '../base/clock.ts';
import { outsideCall } from '../base/fail-point.ts';
import { HttpExchange } from '../base/http-exchange.ts';
import { AnswerReader } from './answer-reader.ts';
import type { AnswerWatch } from './answer-watch.ts';
import type { OnChatEvent } from './chat-types.ts';
import { ChatError } from './chat-error.ts';
import { FailureReader } from './failure-reader.ts';
import { StreamDecoder, WholeDecoder, type DecoderLimits } from './stream-decoder.ts';

export interface HttpCall {
  url: URL;
  apiKey: string;
  body: string;
  isStreamed: boolean;
  dispatcher: Dispatcher;
  watch: AnswerWatch;
  limits: DecoderLimits;
  nowMs: NowMs;
  /** Told once the service has begun to answer, before any event. */
  began(): void;
  onEvent: OnChatEvent;
}

/** Sends one request and judges the head of its answer. @returns what reads the rest. @throws ChatError */
export function openAnswer(call: HttpCall): Promise<AnswerReader> {
  return outsideCall('chat.completions', () => new Promise((resolve, reject) => send(call, { resolve, reject })));
}

interface Settle {
  resolve(reader: AnswerReader): void;
  reject(error: ChatError): void;
}

function send(call: HttpCall, { resolve, reject }: Settle): void {
  const { url, apiKey, body, isStreamed, dispatcher, watch, nowMs } = call;
  let reader: AnswerReader | FailureReader | undefined;
  const exchange = new HttpExchange({
    onHead(status, headers) {
      const contentType = String(headers['content-type'] ?? '').toLowerCase();
      if (status !== 200) reader = new FailureReader({ status, headers, watch, nowMs, onFailure: reject });
      else if (contentType.includes('html'))
        reject(new ChatError('chat_bad_stream', 'The chat service answered with a page', { status: 200 }));
      else {
        call.began();
        reader = readerOf(call, contentType);
        resolve(reader);
      }
    },
    onBytes: (bytes) => reader?.onBytes(bytes),
    onEnd(cause) {
      if (reader) reader.onEnd(cause);
      else reject(watch.failure ?? unreachable(cause));
    },
  });
  watch.onFailure((failure) => exchange.abort(failure));
  exchange.send(dispatcher, {
    url,
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      accept: isStreamed ? 'text/event-stream' : 'application/json',
    },
    body,
  });
}

function readerOf({ limits, watch, onEvent }: HttpCall, contentType: string): AnswerReader {
  const decoder = contentType.includes('json') ? new WholeDecoder(limits) : new StreamDecoder(limits);
  return new AnswerReader({ decoder, watch, onEvent });
}

function unreachable(cause: Error | undefined): ChatError {
  return new ChatError('chat_unreachable', 'The chat service could not be reached', { isRetryable: true, cause });
}
