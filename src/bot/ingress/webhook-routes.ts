import type { IncomingMessage, ServerResponse } from 'node:http';
import { asError } from '../../shared/coded-error.ts';
import { MIB_BYTES } from '../../shared/clock.ts';
import { HeldBytes } from '../../shared/memory-budget.ts';
import type { Log } from '../../shared/log.ts';
import type { Delivery, DeliveryHead, HttpAnswer, Platform } from '../platforms/platform.ts';
import { say } from '../../shared/text/texts.ts';
import { WEBHOOK_TEXTS } from '../i18n/webhook-texts.ts';
import type { HandleDelivery } from './handle-delivery.ts';
import { readBody } from './read-body.ts';
import type { DeliveryOutcome, WebhookReport } from './webhook-report.ts';

export interface WebhookRoutesOptions {
  platforms: readonly Platform[];
  handle: HandleDelivery;
  log: Log;
  report: WebhookReport;
}

/** Answers a request to one of the platforms' addresses. @returns false when it is for somebody else, who must answer it */
export type ServeWebhook = (request: IncomingMessage, response: ServerResponse) => boolean;

const PREFIX = '/webhooks/';
/** Of all bodies that are being read: room for thirty-two of the largest, or for thousands of everyday ones. */
const MOST_UNPROVEN_BYTES = 32 * MIB_BYTES;

/**
 * The platforms' addresses, `/webhooks/NAME`: limits → what stands before the body → raw bytes → verify and read → handle → answer
 * (SECURITY.md raw-bytes-only).
 * Straight on node:http, since a framework's way around costs as much as all else that is done for a delivery
 * (docs/PERFORMANCE.md).
 */
export function webhookRoutes(options: WebhookRoutesOptions): ServeWebhook {
  const proven = new Set<Platform>();
  const platforms = new Map<string, Platform>(options.platforms.map((platform) => [platform.name, platform]));
  const held = new HeldBytes(MOST_UNPROVEN_BYTES);
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
  held: HeldBytes;
  /** Whose deliveries were verified since the start. */
  proven: Set<Platform>;
}

/** Whoever set the address up opens it in a browser; the apps themselves sign also what they ask by GET. */
const FOR_PEOPLE = `${say(WEBHOOK_TEXTS.openedByPerson, 'zh')}\n\n${say(WEBHOOK_TEXTS.openedByPerson, 'en')}\n`;

/** What was refused before anything could be verified. */
const UNREAD_REASONS = { 400: 'broken off', 413: 'too large', 415: 'compressed', 503: 'no room' } as const;

async function serveDelivery(call: Call, options: WebhookRoutesOptions) {
  const { request, response, query, platform, held, proven } = call;
  const startedMs = performance.now();
  const { method } = request;
  if (method !== 'GET' && method !== 'POST') {
    response.setHeader('allow', 'GET, POST');
    return writeAnswer(response, { status: 405, body: '' });
  }
  const done = (kind: string, outcome: DeliveryOutcome, why: Why = NO_REASON) => {
    const durationMs = performance.now() - startedMs;
    options.report.deliveryReceived({ platform: platform.name, kind, outcome, durationMs, ...why });
  };

  const head: DeliveryHead = { method, query, headers: request.headers };
  const admitted = platform.admit(head);
  if (typeof admitted !== 'function') {
    writeAnswer(response, { status: admitted.status, body: method === 'GET' ? FOR_PEOPLE : '' });
    return done('unread', 'refused', whyOf(admitted));
  }
  const read = await readBody(request, held);
  if (!read.ok) {
    // Who had to make room would only go on sending.
    if (read.status === 503) response.setHeader('connection', 'close');
    writeAnswer(response, { status: read.status, body: '' });
    const sizeBytes = Number(request.headers['content-length'] ?? Number.NaN);
    const outcome = read.status === 413 ? 'too-large' : 'refused';
    return done('unread', outcome, {
      reason: UNREAD_REASONS[read.status],
      sizeBytes: Number.isFinite(sizeBytes) ? sizeBytes : undefined,
    });
  }
  const pending = platform.pending?.();
  if (pending) await pending;
  const delivery: Delivery = admitted(read.body);
  const { answer, outcome, deliveryId } = await options.handle(platform, delivery);
  writeAnswer(response, answer);
  done(delivery.kind, outcome, deliveryId === undefined ? whyOf(delivery) : { deliveryId });
  if (proven.has(platform) || delivery.kind === 'refused' || delivery.kind === 'ignored') return;
  proven.add(platform);
  options.report.deliveryProven({ platform: platform.name });
}

type Why = Pick<Parameters<WebhookReport['deliveryReceived']>[0], 'reason' | 'offSec' | 'sizeBytes' | 'deliveryId'>;
const NO_REASON: Why = {};

/** Why a delivery came to nothing that an operator would want; what is ignored by rule is nobody's business. */
function whyOf(delivery: Delivery): Why {
  if (delivery.kind === 'refused') return { reason: delivery.reason, offSec: delivery.offSec };
  return delivery.kind === 'ignored' && delivery.reason === 'does not open' ? { reason: delivery.reason } : NO_REASON;
}

function writeAnswer(response: ServerResponse, { status, contentType, body }: HttpAnswer): void {
  response.writeHead(status, {
    'content-type': contentType ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
