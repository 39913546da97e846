import Router from '@koa/router';
import type { Context } from 'koa';
import type { NowMs } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Delivery, HttpAnswer, Platform } from '../platforms/platform.ts';
import type { HandleDelivery } from './handle-delivery.ts';
import { readBody } from './read-body.ts';
import type { DeliveryOutcome, WebhookReport } from './webhook-report.ts';

export interface WebhookRoutesOptions {
  platforms: readonly Platform[];
  handle: HandleDelivery;
  nowMs: NowMs;
  log: Log;
  report: WebhookReport;
}

/** The platforms' addresses, `/webhooks/NAME`: limits → raw bytes → verify and read → handle → answer (security.md 3.1). */
export function webhookRoutes(options: WebhookRoutesOptions): Router {
  const router = new Router();
  for (const platform of options.platforms) {
    router.register(`/webhooks/${platform.name}`, ['GET', 'POST'], (context) =>
      serveDelivery(context, platform, options),
    );
  }
  return router;
}

async function serveDelivery(context: Context, platform: Platform, options: WebhookRoutesOptions): Promise<void> {
  const startedMs = performance.now();
  const done = (kind: string, outcome: DeliveryOutcome) =>
    options.report.deliveryReceived({
      platform: platform.name,
      kind,
      outcome,
      durationMs: performance.now() - startedMs,
    });

  const read = await readBody(context.req);
  if (!read.ok) {
    context.status = read.status;
    context.body = '';
    return done('unread', read.status === 413 ? 'too-large' : 'refused');
  }
  const delivery: Delivery = platform.receive({
    method: context.method === 'GET' ? 'GET' : 'POST',
    query: context.URL.searchParams,
    headers: context.headers,
    body: read.body,
  });
  const { answer, outcome } = await options.handle(platform, delivery);
  writeAnswer(context, answer);
  done(delivery.kind, outcome);
}

function writeAnswer(context: Context, answer: HttpAnswer): void {
  context.status = answer.status;
  context.type = answer.contentType ?? 'text/plain; charset=utf-8';
  context.body = answer.body;
}
