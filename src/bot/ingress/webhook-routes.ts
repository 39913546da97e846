import type { IncomingMessage, ServerResponse } from 'node:http';
import { asError } from '../../shared/coded-error.ts';
import { MIB_BYTES } from '../../shared/clock.ts';
import { MemoryBudget } from '../../shared/memory-budget.ts';
import type { Log } from '../../shared/log.ts';
import type { Delivery, DeliveryHead, WebhookResponse, Platform } from '../platforms/platform.ts';
import { languageOfHeader } from '../../shared/text/texts.ts';
import type { HandleDelivery } from './handle-delivery.ts';
import { openedPage } from './opened-page.ts';
import { readBody } from './read-body.ts';
import type { DeliveryOutcome, WebhookReport } from './webhook-report.ts';

export interface WebhookRoutesOptions {
  platforms: readonly Platform[];
  handle: HandleDelivery;
  log: Log;
  report: WebhookReport;
  /** Address of the institution's help page. */
  helpUrl?: string;
}

/**
 * Answers a request to a platform's webhook address.
 * @returns false if the address belongs to another route, which must then answer
 */
export type ServeWebhook = (request: IncomingMessage, response: ServerResponse) => boolean;

const PREFIX = '/webhooks/';
/** Maximum bytes of all bodies being read: 32 of the largest, or thousands of typical ones. */
const MAX_UNVERIFIED_BYTES = 32 * MIB_BYTES;

/**
 * Serves the webhook addresses, `/webhooks/NAME`: limits → head check → raw bytes → verify and read → handle → answer
 * (SECURITY.md raw-bytes-only). Uses node:http directly, since a framework's routing costs as much as the rest of a
 * delivery (docs/design/performance.md).
 */
export function webhookRoutes(options: WebhookRoutesOptions): ServeWebhook {
  const proven = new Set<Platform>();
  const platforms = new Map<string, Platform>(options.platforms.map((platform) => [platform.name, platform]));
  const held = new MemoryBudget(MAX_UNVERIFIED_BYTES);
  return (request, response) => {
    const { url = '' } = request;
    if (!url.startsWith(PREFIX)) return false;
    const queryAt = url.indexOf('?');
    const path = queryAt < 0 ? url : url.slice(0, queryAt);
    const platform = platforms.get(path.slice(PREFIX.length));
    if (!platform) return false;
    const query = new URLSearchParams(queryAt < 0 ? '' : url.slice(queryAt));
    serveDelivery({ request, response, query, platform, held, proven }, options).catch((thrown: unknown) => {
      options.log.error({ error: asError(thrown) }, 'a request failed');
      if (!response.headersSent) writeAnswer(response, { status: 500, body: '' });
    });
    return true;
  };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  platform: Platform;
  held: MemoryBudget;
  /** Platforms of which a delivery was verified since the start. */
  proven: Set<Platform>;
}

/** Reasons for refusals before verification. */
const UNREAD_REASONS = { 400: 'broken off', 413: 'too large', 415: 'compressed', 503: 'no room' } as const;

async function serveDelivery(call: Call, options: WebhookRoutesOptions) {
  const { request, response, query, platform, held, proven } = call;
  const startedMs = performance.now();
  const { method } = request;
  if (method !== 'GET' && method !== 'POST') {
    response.setHeader('allow', 'GET, POST');
    return writeAnswer(response, { status: 405, body: '' });
  }
  const done = (kind: string, outcome: DeliveryOutcome, why: RefusalDetails = NO_REASON) => {
    const durationMs = performance.now() - startedMs;
    const { reason, offSec, sizeBytes, deliveryId } = why;
    options.report.deliveryReceived({
      platform: platform.name,
      kind,
      outcome,
      durationMs,
      reason,
      offSec,
      sizeBytes,
      deliveryId,
    });
  };

  const showPage = (status: number) => {
    const page = openedPage(platform.name, languageOfHeader(request.headers['accept-language']), options.helpUrl);
    response.writeHead(status, { ...page.headers, 'content-length': Buffer.byteLength(page.body) }).end(page.body);
  };
  // A platform signs its GET requests too, in the query.
  if (method === 'GET' && query.size === 0) return showPage(200);
  const head: DeliveryHead = { method, query, headers: request.headers };
  const admitted = platform.verifyHeaders(head);
  if (typeof admitted !== 'function') {
    if (method === 'GET') showPage(admitted.status);
    else writeAnswer(response, { status: admitted.status, body: '' });
    return done('unread', 'refused', refusalDetailsOf(admitted));
  }
  const read = await readBody(request, held);
  if (!read.ok) {
    // A sender whose body was evicted would only continue to send.
    if (read.status === 503) response.setHeader('connection', 'close');
    writeAnswer(response, { status: read.status, body: '' });
    const sizeBytes = Number(request.headers['content-length'] ?? Number.NaN);
    const outcome = read.status === 413 ? 'too-large' : 'refused';
    return done('unread', outcome, {
      reason: UNREAD_REASONS[read.status],
      sizeBytes: Number.isFinite(sizeBytes) ? sizeBytes : undefined,
    });
  }
  const pending = platform.ready?.();
  if (pending) await pending;
  const delivery: Delivery = admitted(read.body);
  const { answer, outcome, deliveryId } = await options.handle(platform, delivery, startedMs);
  writeAnswer(response, answer);
  done(delivery.kind, outcome, deliveryId === undefined ? refusalDetailsOf(delivery) : { deliveryId });
  if (proven.has(platform) || delivery.kind === 'refused' || delivery.kind === 'ignored') return;
  proven.add(platform);
  options.report.deliveryVerified({ platform: platform.name });
}

type RefusalDetails = Pick<
  Parameters<WebhookReport['deliveryReceived']>[0],
  'reason' | 'offSec' | 'sizeBytes' | 'deliveryId'
>;
const NO_REASON: RefusalDetails = {};

/** Why a delivery had no effect, if the operator would want to know. Deliveries ignored by rule have no reason. */
function refusalDetailsOf(delivery: Delivery): RefusalDetails {
  if (delivery.kind === 'refused') return { reason: delivery.reason, offSec: delivery.offSec };
  return delivery.kind === 'ignored' && delivery.reason === 'does not open' ? { reason: delivery.reason } : NO_REASON;
}

function writeAnswer(response: ServerResponse, { status, contentType, body }: WebhookResponse): void {
  response.writeHead(status, {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
