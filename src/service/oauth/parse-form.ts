import bodyParser from 'koa-bodyparser';
import type { Middleware } from 'koa';
import { KIB_BYTES, MIB_BYTES } from '../../shared/clock.ts';
import { MemoryBudget } from '../../shared/memory-budget.ts';

const MAX_FORM_BYTES = 64 * KIB_BYTES;
/** Maximum bytes of all forms that a process is receiving; their senders are not authenticated yet. */
const held = new MemoryBudget(16 * MIB_BYTES);

/** Parses a form into `ctx.request.body`. @param refuse throws the error for the sender if parsing fails */
export function formParser(refuse: () => never): Middleware {
  const parse = bodyParser({ enableTypes: ['form'], formLimit: `${MAX_FORM_BYTES}b`, onerror: refuse }) as Middleware;
  return async (ctx, next) => {
    if (ctx.method !== 'POST') {
      await next();
      return;
    }
    const form = { heldBytes: 0, evict: () => void ctx.req.destroy() };
    held.begin(form);
    held.grow(form, Math.min(Number(ctx.get('Content-Length') || MAX_FORM_BYTES), MAX_FORM_BYTES));
    try {
      await parse(ctx, () => Promise.resolve());
    } finally {
      held.end(form);
    }
    await next();
  };
}
