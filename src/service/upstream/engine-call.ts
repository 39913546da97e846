import { Pool, type Dispatcher } from 'undici';
import { KIB_BYTES, MIB_BYTES, SECOND_MS, type NowMs } from '../../base/clock.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { ServiceReport } from '../service-report.ts';
import { toEngineBody } from './engine-body.ts';
import { broken } from './engine-events.ts';
import { readRefusal } from './engine-refusal.ts';

export interface UpstreamOptions {
  /** The engine's base address; `/chat/completions` is added. */
  url: string;
  /** Sent as bearer token; never logged, never shown. */
  key?: string;
  /** Our model names to the engine's. */
  models: Readonly<Record<string, string>>;
  /** The longest wait for the answer to begin. Default 120 s, as a large local model may load for a while first. */
  firstByteMs?: number;
  /** The longest pause within an answer. Default 60 s. */
  idleMs?: number;
}

/** What the engine's side needs of the service. */
export interface UpstreamSurroundings {
  nowMs: NowMs;
  report: ServiceReport;
}

const CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
const FIRST_BYTE_TIMEOUT_MS = 120 * SECOND_MS;
const IDLE_TIMEOUT_MS = 60 * SECOND_MS;
const MAX_REPLY_BYTES = 16 * MIB_BYTES;
/** What is read ahead of a client that does not read. */
const READ_AHEAD_BYTES = 16 * KIB_BYTES;

/** The HTTP side of one engine. */
export interface EngineCall {
  /** @returns the engine's answer of status 200, not read yet. @throws ChatApiError */
  send(request: ChatRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

export function createEngineCall(options: UpstreamOptions, { nowMs, report }: UpstreamSurroundings): EngineCall {
  const { origin, pathname } = new URL(options.url);
  // As many connections as requests are open: the keys' limits bound them, and a request in a queue would wait without end.
  const pool = new Pool(origin, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: options.firstByteMs ?? FIRST_BYTE_TIMEOUT_MS,
    bodyTimeout: options.idleMs ?? IDLE_TIMEOUT_MS,
    maxResponseSize: MAX_REPLY_BYTES,
  });
  const path = `${pathname.replace(/\/+$/, '')}/chat/completions`;
  const key = options.key === undefined ? {} : { authorization: `Bearer ${options.key}` };
  const wholeHeaders = { 'content-type': 'application/json', accept: 'application/json', ...key };
  const streamHeaders = { ...wholeHeaders, accept: 'text/event-stream' };
  return {
    async send(request, signal) {
      const response = await pool
        .request({
          method: 'POST',
          path,
          headers: request.stream ? streamHeaders : wholeHeaders,
          body: JSON.stringify(toEngineBody(request, options.models[request.model.id])),
          highWaterMark: READ_AHEAD_BYTES,
          signal,
        })
        .catch((cause: unknown) => {
          throw broken('The engine behind this service cannot be reached', cause);
        });
      if (response.statusCode === 200) return response;
      throw await readRefusal(response, { request, nowMs, report });
    },
    close: () => pool.destroy(),
  };
}
