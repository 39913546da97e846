import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { DeliveryHead } from '../platform.ts';

export interface VerifyOptions {
  /** Maximum difference between a delivery's time and our clock. Seconds. */
  windowSec: number;
  nowMs: NowMs;
}

/** Why a delivery is refused before its body is read. */
export type Refusal = 'no signature' | 'malformed signature' | 'outside the time window';

const PREFIX = 'v0=';
const SIGNATURE = /^v0=[0-9a-f]{64}$/;

export interface SignatureFields {
  signature: string;
  timestamp: string;
}

/**
 * Checks the headers of a delivery: a well-formed signature, and a time near ours. @returns the signature and time, or the
 * refusal
 */
export function signatureFields({ headers }: DeliveryHead, options: VerifyOptions): SignatureFields | Refusal {
  const signature = onlyHeader(headers, 'x-slack-signature');
  const timestamp = onlyHeader(headers, 'x-slack-request-timestamp');
  if (signature === undefined || timestamp === undefined) return 'no signature';
  if (!SIGNATURE.test(signature)) return 'malformed signature';
  return isWithinWindow(timestamp, options) ? { signature, timestamp } : 'outside the time window';
}

/**
 * Whether Slack signed these bytes: HMAC-SHA256 over `v0:timestamp:` and the body (PLATFORM_FACTS.md slack-deliveries,
 * SECURITY.md constant-time, time-window).
 */
export function isSignedBy(signingKey: KeyObject, { signature, timestamp }: SignatureFields, body: Buffer): boolean {
  // Both are 32 bytes; the pattern ensures the length of the received one.
  const given = Buffer.from(signature.slice(PREFIX.length), 'hex');
  return timingSafeEqual(given, hmacOf(signingKey, timestamp, body));
}

/** The signature that Slack sends with a body. */
export function signDelivery(signingKey: KeyObject, timestamp: string, body: Buffer): string {
  return PREFIX + hmacOf(signingKey, timestamp, body).toString('hex');
}

function hmacOf(signingKey: KeyObject, timestamp: string, body: Buffer): Buffer {
  return createHmac('sha256', signingKey).update(`v0:${timestamp}:`).update(body).digest();
}

function isWithinWindow(timestamp: string, { nowMs, windowSec }: VerifyOptions): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(nowMs() / SECOND_MS) - Number(timestamp)) <= windowSec;
}

/**
 * A header that must occur once. Node joins repeated headers with a comma, which neither a signature nor a time contains.
 */
function onlyHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && !value.includes(',') ? value : undefined;
}
