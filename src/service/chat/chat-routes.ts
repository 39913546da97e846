import { pipeline } from 'node:stream/promises';
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import type { NowMs } from '../../shared/clock.ts';
import type { ServiceReport } from '../service-report.ts';
import { createKeyFinder } from './api-keys.ts';
import { asChatApiError, ChatApiError } from './chat-api-error.ts';
import type { ChatEngine } from './chat-engine.ts';
import { unknownModel, type ChatRequest, type RequestRules } from './chat-request.ts';
import { KeyLimits, type ChatLimits } from './key-limits.ts';
import type { PassThrough } from '../upstream/pass-through.ts';
import type { SharedLimits } from './shared-limits.ts';
import { BodyBudget, readAnyBody, readBody, type BodyHold } from './read-body.ts';
import { readRequest } from './read-request.ts';
import type { EngineHeaders } from '../../shared/models/engine-headers.ts';
import { commonHeaders, type ModelCatalog } from '../../shared/models/model-catalog.ts';
import type { ModelEntry } from '../../shared/models/model-entry.ts';
import { streamAnswer } from './stream-answer.ts';

export interface ChatRoutesOptions {
  /** Accepted API keys. */
  apiKeys: readonly string[];
  models: ModelCatalog;
  engine: ChatEngine;
  /** Handles requests that only an engine can serve; undefined without an engine. */
  passThrough: PassThrough | undefined;
  /** What the operator allows in requests to the engine; undefined without an engine. */
  rules: RequestRules | undefined;
  limits: ChatLimits;
  /** Enforces the same limits across all processes. */
  sharedLimits: SharedLimits;
  nowMs: NowMs;
  report: ServiceReport;
  /** True while the service is stopping: new requests then get 503. */
  isStopping: () => boolean;
}

/** Further endpoints of an OpenAI-compatible engine. Model names pass through unchanged. */
const RELAYED_PATHS = [
  ...['embeddings', 'rerank', 'images/generations', 'images/edits', 'images/variations'],
  ...['audio/speech', 'audio/transcriptions', 'audio/translations'],
];
/** Other interfaces of OpenAI, which some client libraries use by default. */
const OTHER_INTERFACES: ReadonlySet<string> = new Set(['/v1/responses', '/v1/completions']);
const OTHER_INTERFACE = 'This interface does not exist here: set the client to use /v1/chat/completions';
const NEEDS_ENGINE = 'This requires an engine, but none is configured: set SERVICE_UPSTREAM_URL';

/** Clients expect a creation time; the model table has none. */
const LISTED_SINCE_SEC = 1_735_689_600;

/** Handles everything under `/v1/`; other paths are passed to `next`. Errors always use the interface's error object. */
export function chatRoutes(options: ChatRoutesOptions): Middleware {
  const limits = new KeyLimits(options.limits, options.nowMs);
  const findKey = createKeyFinder(options.apiKeys);
  const beginRequest = async (key: string) => {
    const endHere = limits.begin(key);
    try {
      const endShared = await options.sharedLimits.begin(key);
      return () => (endHere(), endShared());
    } catch (error) {
      endHere();
      throw error;
    }
  };
  const byName = servedModels(options.models);
  const bodies = new BodyBudget();
  const router = new Router();
  router.get('/v1/models', (ctx) => {
    requireKey(ctx, findKey);
    ctx.body = { object: 'list', data: options.models.entries.map(describeModel) };
  });
  router.get('/v1/models/:name', (ctx) => {
    requireKey(ctx, findKey);
    const { name = '' } = ctx.params;
    const model = options.models.entries.find((entry) => entry.name === name);
    if (!model) throw unknownModel(options.models.entries.map((entry) => entry.name));
    ctx.body = describeModel(model);
  });
  router.post('/v1/chat/completions', async (ctx) => {
    if (options.isStopping()) throw new ChatApiError('unavailable', 'The service is stopping', { retryAfterSec: 5 });
    const key = requireKey(ctx, findKey);
    const places = [await beginRequest(key)];
    const end = () => places.splice(0).forEach((free) => free());
    const hold = bodies.hold();
    try {
      // The body is read only after the key and the limits were checked, so that unauthenticated clients cannot exhaust
      // memory.
      const request = await readRequest(await readBody(ctx.req, hold), byName, { rules: options.rules, owner: key });
      // Each further answer counts as a separate request.
      while (places.length < request.answers) places.push(await beginRequest(key));
      await answer(ctx, request, { ...options, end });
    } catch (error) {
      end();
      throw error;
    } finally {
      hold.release();
    }
  });
  for (const path of RELAYED_PATHS) {
    router.post(`/v1/${path}`, async (ctx) => {
      if (!options.passThrough) throw new ChatApiError('unknown_address', NEEDS_ENGINE);
      if (options.isStopping()) throw new ChatApiError('unavailable', 'The service is stopping', { retryAfterSec: 5 });
      const end = await beginRequest(requireKey(ctx, findKey));
      const hold = bodies.hold();
      try {
        const headers = commonHeaders(options.models);
        await relayRequest(ctx, path, { passThrough: options.passThrough, headers, hold });
      } finally {
        hold.release();
        end();
      }
    });
  }
  const routes = router.routes() as Middleware;
  return async (ctx, next) => {
    if (!/^\/v1(\/|$)/.test(ctx.path)) {
      await next();
      return;
    }
    ctx.set('Cache-Control', 'no-store');
    try {
      await routes(ctx, () => {
        const isOther = OTHER_INTERFACES.has(ctx.path);
        throw new ChatApiError('unknown_address', isOther ? OTHER_INTERFACE : 'This address does not exist');
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
    throw new ChatApiError('invalid_api_key', 'A valid API key is required: Authorization: Bearer API_KEY');
  return key;
}

/**
 * Relays the request unchanged, and the response as it arrives. The key's slot is released when the response is complete.
 */
async function relayRequest(
  ctx: Context,
  path: string,
  { passThrough, headers, hold }: { passThrough: PassThrough; headers: EngineHeaders; hold: BodyHold },
): Promise<void> {
  const body = await readAnyBody(ctx.req, hold);
  const left = new AbortController();
  ctx.res.once('close', () => {
    if (!ctx.res.writableFinished) left.abort();
  });
  if (ctx.res.closed) left.abort();
  const contentType = ctx.get('Content-Type') || 'application/json';
  const answer = await passThrough.send(
    { path, headers, contentType, accept: ctx.get('Accept') || '*/*', body },
    left.signal,
  );
  ctx.respond = false;
  ctx.res.writeHead(200, {
    'Content-Type': answer.contentType,
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  });
  // Either side may disconnect; then there is no client to report to.
  await pipeline(answer.body, ctx.res).catch(() => undefined);
}

interface AnswerOptions extends ChatRoutesOptions {
  /** Releases the key's slot. */
  end: () => void;
}

async function answer(ctx: Context, request: ChatRequest, { end, ...options }: AnswerOptions): Promise<void> {
  const left = new AbortController();
  ctx.res.once('close', () => {
    // A closed connection after the end of the answer is not a disconnect, and must not abort the engine.
    if (!ctx.res.writableFinished) left.abort();
  });
  if (ctx.res.closed) left.abort();
  const startedAtMs = options.nowMs();
  // Destructured so that objects that live as long as a stream do not retain the whole request, which may be large.
  const { model, stream, droppedFields } = request;
  const finish = (outcome: string) => {
    end();
    options.report.chatAnswered({
      model: model.name,
      streamed: stream,
      droppedFields,
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

/** Accepted model names: those of the models, and the engine's names, which a bot with the same file uses. */
function servedModels({ entries }: ModelCatalog): ReadonlyMap<string, ModelEntry> {
  return new Map([
    ...entries.map((entry) => [entry.upstream, { ...entry, name: entry.upstream }] as const),
    ...entries.map((entry) => [entry.name, entry] as const),
  ]);
}

function describeModel({ name: id }: ModelEntry): object {
  return { id, object: 'model', created: LISTED_SINCE_SEC, owned_by: 'parley' };
}
