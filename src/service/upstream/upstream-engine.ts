import { Agent, request as sendRequest, type Dispatcher } from 'undici';
import { MIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { ChatApiError } from '../chat/chat-api-error.ts';
import type { ChatEngine } from '../chat/chat-engine.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { readEvents } from './read-events.ts';
import { toOwnReply, type EngineReply } from './own-reply.ts';
import { toEngineBody } from './engine-body.ts';

export interface UpstreamOptions {
  /** The engine's base address; `/chat/completions` is added. */
  url: string;
  /** Sent as bearer token; never logged, never shown. */
  key?: string;
  /** Our model names to the engine's. */
  models: Readonly<Record<string, string>>;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
/** A large local model may load for a while before its first token. */
const FIRST_BYTE_TIMEOUT_MS = 120 * SECOND_MS;
const IDLE_TIMEOUT_MS = 60 * SECOND_MS;
const MAX_REPLY_BYTES = 16 * MIB_BYTES;
const CONNECTIONS = 256;

/** Passes requests to an OpenAI-compatible engine, with model names mapped there and back. Nothing is retried here. */
export function createUpstreamEngine(options: UpstreamOptions): ChatEngine {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    connections: CONNECTIONS,
    headersTimeout: FIRST_BYTE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  const send = (request: ChatRequest, signal: AbortSignal) => ask(options, request, { agent, signal });
  return {
    async complete(request, signal) {
      const { body } = await send(request, signal);
      return toOwnReply(await readJson(body), request);
    },
    async *stream(request, signal) {
      const { body, headers } = await send(request, signal);
      if (!String(headers['content-type'] ?? '').startsWith('text/event-stream')) {
        body.destroy();
        throw unavailable('The engine did not answer with a stream');
      }
      try {
        for await (const event of readEvents(body)) yield toOwnReply(event, request);
      } catch (cause) {
        throw cause instanceof ChatApiError ? cause : unavailable('The engine broke off its answer', cause);
      } finally {
        // Also when the client left early: the connection is given up, so that the engine stops working.
        body.destroy();
      }
    },
    close: () => agent.destroy(),
  };
}

interface SendOptions {
  agent: Agent;
  signal: AbortSignal;
}

async function ask(
  options: UpstreamOptions,
  request: ChatRequest,
  { agent, signal }: SendOptions,
): Promise<Dispatcher.ResponseData> {
  const url = `${options.url.replace(/\/+$/, '')}/chat/completions`;
  const headers = {
    'content-type': 'application/json',
    accept: request.stream ? 'text/event-stream' : 'application/json',
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
  };
  const body = JSON.stringify(toEngineBody(request, options.models[request.model.id]));
  let response: Dispatcher.ResponseData;
  try {
    response = await sendRequest(url, { dispatcher: agent, method: 'POST', headers, body, signal });
  } catch (cause) {
    throw unavailable('The engine behind this service cannot be reached', cause);
  }
  if (response.statusCode === 200) return response;
  response.body.on('error', () => undefined).destroy();
  throw refusal(response);
}

/** The engine's own words are not passed on: they may name its address, its key or its owner. */
function refusal({ statusCode, headers }: Dispatcher.ResponseData): ChatApiError {
  if (statusCode === 429) {
    const retryAfterSec = Number(headers['retry-after'] ?? 1);
    return new ChatApiError('rate_limit_exceeded', 'The engine behind this service asks to wait', {
      retryAfterSec: Number.isFinite(retryAfterSec) ? Math.max(1, Math.ceil(retryAfterSec)) : 1,
    });
  }
  if (statusCode === 413)
    return new ChatApiError('request_too_large', 'The request is too large for the engine behind this service');
  if (statusCode === 400 || statusCode === 422)
    return new ChatApiError('engine_refused', 'The engine behind this service refused the request');
  return unavailable(`The engine behind this service cannot answer (status ${statusCode})`);
}

async function readJson(body: Dispatcher.ResponseData['body']): Promise<EngineReply> {
  try {
    const reply: unknown = await body.json();
    if (typeof reply === 'object' && reply !== null) return reply;
  } catch (cause) {
    throw unavailable('The engine broke off its answer', cause);
  }
  throw unavailable('The engine gave an answer that makes no sense');
}

function unavailable(message: string, cause?: unknown): ChatApiError {
  return new ChatApiError('unavailable', message, { retryAfterSec: 5, cause });
}
