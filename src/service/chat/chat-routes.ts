import { Readable } from 'node:stream';
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../base/coded-error.ts';
import type { NowMs } from '../../base/clock.ts';
import { sameSecret } from '../../base/ids.ts';
import type { ServiceReport } from '../service-report.ts';
import { asChatApiError, ChatApiError } from './chat-api-error.ts';
import type { ChatEngine } from './chat-engine.ts';
import { readChatRequest, type ChatRequest } from './chat-request.ts';
import { KeyLimits, type ChatLimits } from './key-limits.ts';
import { readJson } from './read-json.ts';
import type { ModelEntry } from './model-table.ts';
import { eventLines } from './event-lines.ts';

export interface ChatRoutesOptions {
  /** The keys that are let in. */
  apiKeys: readonly string[];
  models: ReadonlyMap<string, ModelEntry>;
  engine: ChatEngine;
  limits: ChatLimits;
  nowMs: NowMs;
  report: ServiceReport;
  /** True while the service is stopping: new requests get 503 then. */
  isStopping: () => boolean;
}

/** Everything under `/v1/`; other addresses go on to `next`. Errors are always the interface's error object. */
export function chatRoutes(options: ChatRoutesOptions): Middleware {
  const limits = new KeyLimits(options.limits, options.nowMs);
  const router = new Router();
  router.get('/v1/models', (ctx) => {
    requireKey(ctx, options.apiKeys);
    ctx.body = { object: 'list', data: [...options.models.values()].map(describeModel) };
  });
  router.post('/v1/chat/completions', async (ctx) => {
    if (options.isStopping()) throw new ChatApiError('unavailable', 'The service is stopping', { retryAfterSec: 5 });
    const end = limits.begin(requireKey(ctx, options.apiKeys));
    try {
      // The body is read only after the key and the limits were checked, so that strangers cannot fill the memory.
      const request = readChatRequest(await readJson(ctx.req), options.models);
      await answer(ctx, request, { ...options, end });
    } catch (error) {
      end();
      throw error;
    }
  });
  const routes = router.routes() as Middleware;
  return async (ctx, next) => {
    if (!/^\/v1(\/|$)/.test(ctx.path)) {
      await next();
      return;
    }
    ctx.set('Cache-Control', 'no-store');
    try {
      await routes(ctx, () => {
        throw new ChatApiError('unknown_address', 'There is nothing at this address');
      });
    } catch (thrown) {
      refuse(ctx, thrown, options.report);
    }
  };
}

function refuse(ctx: Context, thrown: unknown, report: ServiceReport): void {
  const error = asChatApiError(thrown);
  if (error.code === 'internal_error' && ctx.res.writable) report.failed('chat', asError(thrown));
  ctx.status = error.status;
  if (error.status === 401) ctx.set('WWW-Authenticate', 'Bearer realm="chat"');
  if (error.retryAfterSec !== undefined) ctx.set('Retry-After', String(error.retryAfterSec));
  ctx.body = error.toBody();
}

function requireKey(ctx: Context, apiKeys: readonly string[]): string {
  const given = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
  // Every key is compared, so that the time taken does not tell which one is close.
  const known = given === undefined ? [] : apiKeys.filter((key) => sameSecret(key, given));
  if (known[0] === undefined)
    throw new ChatApiError('invalid_api_key', 'A valid API key is needed: Authorization: Bearer API_KEY');
  return known[0];
}

interface AnswerOptions extends ChatRoutesOptions {
  /** Frees the key's place. */
  end: () => void;
}

async function answer(ctx: Context, request: ChatRequest, { end, ...options }: AnswerOptions): Promise<void> {
  const left = new AbortController();
  ctx.res.once('close', () => left.abort());
  const startedAtMs = options.nowMs();
  const finish = (outcome: string) => {
    end();
    options.report.chatAnswered({
      model: request.model.id,
      streamed: request.stream,
      outcome,
      durationMs: options.nowMs() - startedAtMs,
    });
  };
  if (!request.stream) {
    ctx.body = await options.engine.complete(request, left.signal);
    finish('answered');
    return;
  }
  ctx.body = await openStream(options.engine, request, { signal: left.signal, finish });
  ctx.set('Content-Type', 'text/event-stream; charset=utf-8');
  ctx.set('X-Accel-Buffering', 'no');
}

interface StreamEnd {
  signal: AbortSignal;
  finish: (outcome: string) => void;
}

/** Waits for the first chunk, so that an engine which cannot answer is still told by the status. */
async function openStream(engine: ChatEngine, request: ChatRequest, { signal, finish }: StreamEnd): Promise<Readable> {
  const chunks = engine.stream(request, signal)[Symbol.asyncIterator]();
  const first = await chunks.next();
  // One chunk is read ahead at most: the engine is asked for the next only when the client has room.
  return Readable.from(eventLines(first, chunks, { signal, finish }), { highWaterMark: 1 });
}

function describeModel({ id, createdSec }: ModelEntry): object {
  return { id, object: 'model', created: createdSec, owned_by: 'parley' };
}
