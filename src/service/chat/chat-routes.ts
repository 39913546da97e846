import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../base/coded-error.ts';
import type { NowMs } from '../../base/clock.ts';
import type { ServiceReport } from '../service-report.ts';
import { createKeyFinder } from './api-keys.ts';
import { asChatApiError, ChatApiError } from './chat-api-error.ts';
import type { ChatEngine } from './chat-engine.ts';
import { readChatRequest, type ChatRequest } from './chat-request.ts';
import { KeyLimits, type ChatLimits } from './key-limits.ts';
import { parseBody, readBody } from './read-body.ts';
import { isIntricate, readIntricate } from './read-intricate.ts';
import type { ModelEntry } from './model-table.ts';
import { streamAnswer } from './stream-answer.ts';

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
  const findKey = createKeyFinder(options.apiKeys);
  const router = new Router();
  router.get('/v1/models', (ctx) => {
    requireKey(ctx, findKey);
    ctx.body = { object: 'list', data: [...options.models.values()].map(describeModel) };
  });
  router.post('/v1/chat/completions', async (ctx) => {
    if (options.isStopping()) throw new ChatApiError('unavailable', 'The service is stopping', { retryAfterSec: 5 });
    const end = limits.begin(requireKey(ctx, findKey));
    try {
      // The body is read only after the key and the limits were checked, so that strangers cannot fill the memory.
      const body = await readBody(ctx.req);
      const request = isIntricate(body)
        ? await readIntricate(body, options.models)
        : readChatRequest(parseBody(body), options.models);
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

function requireKey(ctx: Context, findKey: (given: string) => string | undefined): string {
  const given = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
  const key = given === undefined ? undefined : findKey(given);
  if (key === undefined)
    throw new ChatApiError('invalid_api_key', 'A valid API key is needed: Authorization: Bearer API_KEY');
  return key;
}

interface AnswerOptions extends ChatRoutesOptions {
  /** Frees the key's place. */
  end: () => void;
}

async function answer(ctx: Context, request: ChatRequest, { end, ...options }: AnswerOptions): Promise<void> {
  const left = new AbortController();
  ctx.res.once('close', () => {
    // After an answer's end nobody has left, and the engine may end in peace.
    if (!ctx.res.writableFinished) left.abort();
  });
  if (ctx.res.closed) left.abort();
  const startedAtMs = options.nowMs();
  // Taken out, so that what lives as long as a stream does not hold the whole request, which may be large.
  const { model, stream } = request;
  const finish = (outcome: string) => {
    end();
    options.report.chatAnswered({
      model: model.id,
      streamed: stream,
      outcome,
      durationMs: options.nowMs() - startedAtMs,
    });
  };
  if (!stream) {
    ctx.body = await options.engine.complete(request, left.signal);
    finish('answered');
    return;
  }
  await streamAnswer(ctx, options.engine, request, { signal: left.signal, finish });
}

function describeModel({ id, createdSec }: ModelEntry): object {
  return { id, object: 'model', created: createdSec, owned_by: 'parley' };
}
