import { SECOND_MS, type NowMs } from '../clock.ts';
import type { HttpHeaders } from '../http/http-exchange.ts';

/** A wait as services write it: `30`, `"30"`, `30s`, `500ms`, or the first of several values. */
const WAIT = /^["\s]*(\d{1,9}(?:\.\d{1,9})?)(?:\s{0,3}(ms|s))?["\s]*(?:,|$)/i;
const ISO_DATE = /^\s*\d{4}-\d\d-\d\dT/;

/** The wait that a response asks for, in milliseconds. Azure and OpenAI also send the exact time. */
export function retryAfterIn(headers: HttpHeaders, nowMs: NowMs): number | undefined {
  const { 'retry-after': retryAfter, 'retry-after-ms': exact } = headers;
  const written = typeof exact === 'string' && /^\d{1,9}$/.test(exact) ? `${exact}ms` : retryAfter;
  return readRetryAfter(typeof written === 'string' ? written : undefined, nowMs);
}

/**
 * Parses a `Retry-After` header, seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now. Services also send
 * units, lists, ISO dates, and seconds since 1970.
 */
export function readRetryAfter(header: string | undefined, nowMs: NowMs): number | undefined {
  if (header === undefined) return undefined;
  const [, amount, unit] = WAIT.exec(header) ?? [];
  if (amount !== undefined) return Math.ceil(Number(amount) * (unit?.toLowerCase() === 'ms' ? 1 : SECOND_MS));
  if (/^\s*\d{10}\s*$/.test(header)) return Math.max(0, Number(header) * SECOND_MS - nowMs());
  const atMs = /[a-z]{3}/i.test(header) || ISO_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs());
}
