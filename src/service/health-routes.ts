import type { Middleware } from 'koa';
import { SECOND_MS } from '../shared/clock.ts';
import { BUILD, VERSION } from '../shared/version.ts';
import type { RedisClient } from '../shared/redis/redis.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import type { ServiceHealth } from './service-options.ts';

/** Reasons for readiness; a service that is stopping is not a fault of Redis. */
export type Readiness = 'ready' | 'stopping' | 'redis not ready';

const ANSWERS: Readonly<Record<Readiness, { status: string; parts: Readonly<Record<string, string>> }>> = {
  ready: { status: 'ready', parts: { redis: 'ready' } },
  stopping: { status: 'stopping', parts: { service: 'stopping' } },
  'redis not ready': { status: 'not ready', parts: { redis: 'not ready' } },
};

/** Nonce that a configuration check generates. */
const NONCE = /^[\w-]{16,64}$/;

/**
 * `/healthz` responds while the process runs, with `?nonce=` to identify the deployment; `/readyz` while it can do its work.
 */
export function healthRoutes(
  readiness: () => Promise<Readiness>,
  { metrics, prove, remarks }: ServiceHealth,
): Middleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    if (ctx.path === '/healthz') {
      const { nonce } = ctx.query;
      const isAsked = prove !== undefined && typeof nonce === 'string' && NONCE.test(nonce);
      ctx.body = { status: 'ok', version: VERSION, proof: isAsked ? prove(nonce) : undefined };
    } else if (ctx.path === '/version') {
      ctx.body = BUILD;
    } else if (ctx.path === '/readyz') {
      const state = await readiness();
      ctx.status = state === 'ready' ? 200 : 503;
      const { status, parts } = ANSWERS[state];
      ctx.body = { status, parts: state === 'ready' ? { ...parts, ...remarks?.() } : parts };
    } else if (ctx.path === '/metrics' && metrics) {
      const { contentType, text } = await metrics();
      ctx.type = contentType;
      ctx.body = text;
    } else {
      ctx.remove('Cache-Control');
      await next();
    }
  };
}

/** Whether Redis answers within a second. */
export async function answersInTime(redis: RedisClient): Promise<boolean> {
  const answered = redis.ping().then(() => true);
  return withTimeout(answered, SECOND_MS).catch(() => false);
}
