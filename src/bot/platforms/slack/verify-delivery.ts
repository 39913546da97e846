import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { DeliveryHead } from '../platform.ts';

export interface VerifyOptions {
  /** How far a delivery's time may lie from ours, either way. Seconds. */
  windowSec: number;
  nowMs: NowMs;
}

/** Why a delivery is refused whatever its body says. */
export type Refusal = 'no signature' | 'outside the time window';

const PREFIX = 'v0=';
const SIGNATURE = /^v0=[0-9a-f]{64}$/;

export interface SignatureFields {
  signature: string;
  timestamp: string;
}

/** Judges what stands before the body: whether there is something like a signature, of a time near ours. @returns why not, or both */
export function signatureFields({ headers }: DeliveryHead, options: VerifyOptions): SignatureFields | Refusal {
  const signature = onlyHeader(headers, 'x-slack-signature');
  const timestamp = onlyHeader(headers, 'x-slack-request-timestamp');
  if (signature === undefined || timestamp === undefined || !SIGNATURE.test(signature)) return 'no signature';
  return isWithinWindow(timestamp, options) ? { signature, timestamp } : 'outside the time window';
}

/** Whether Slack signed these bytes: HMAC-SHA256 over `v0:timestamp:` and them (PLATFORM_FACTS.md slack-deliveries, SECURITY.md constant-time, time-window). */
export function isSignedBy(signingSecret: string, { signature, timestamp }: SignatureFields, body: Buffer): boolean {
  // Both are 32 bytes: the pattern saw to the one's length.
  const given = Buffer.from(signature.slice(PREFIX.length), 'hex');
  return timingSafeEqual(given, hmacOf(signingSecret, timestamp, body));
}

/** The signature that Slack sends with these bytes. */
export function signDelivery(signingSecret: string, timestamp: string, body: Buffer): string {
  return PREFIX + hmacOf(signingSecret, timestamp, body).toString('hex');
}

function hmacOf(signingSecret: string, timestamp: string, body: Buffer): Buffer {
  return createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest();
}

function isWithinWindow(timestamp: string, { nowMs, windowSec }: VerifyOptions): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(nowMs() / SECOND_MS) - Number(timestamp)) <= windowSec;
}

/** A header that must occur once. Node joins repeated ones with a comma, which no signature or time holds. */
function onlyHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && !value.includes(',') ? value : undefined;
}
