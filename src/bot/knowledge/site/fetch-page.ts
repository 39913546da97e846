import { DAY_MS, MINUTE_MS, SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import type { EgressPolicy } from '../../../shared/web/egress-policy.ts';
import { fetchAddress, type WebResponse } from '../../../shared/web/fetch-address.ts';
import { WebError } from '../../../shared/web/web-error.ts';
import type { CrawledPage } from './crawl-state.ts';
import { maxBytesOf, PAGE_TYPES } from './page-kinds.ts';

/** The result of fetching a page. */
export type PageFetchResult =
  | { kind: 'page'; answer: WebResponse; body: readonly Buffer[]; etag?: string; lastModified?: string }
  | { kind: 'unchanged' }
  /** The address is not, or no longer, a page of the site. */
  | { kind: 'gone'; reason: string }
  /** A temporary failure. `waitMs`: delay before a retry, if the site gave one. */
  | { kind: 'failed'; waitMs?: number };

/** The maximum that older HTTP specifications recommended. Each redirect target is checked. */
const REDIRECTS = 5;
const TOTAL_MS = 30 * SECOND_MS;
const MAX_WAIT_MS = 5 * MINUTE_MS;
const NOT_THERE: ReadonlySet<number> = new Set([404, 410]);
const CLOSED: ReadonlySet<number> = new Set([401, 403, 407, 451]);
const BUSY: ReadonlySet<number> = new Set([429, 503]);
/** Maximum length of the final address, which is stored. */
const MAX_URL_CHARS = 4_096;
/** Values that are safe to send back in a request header. */
const HEADER_VALUE = /^[\x20-\x7e]{1,300}$/;

/** @param known state from the last fetch @throws the signal's reason */
export async function fetchSitePage(
  address: string,
  { egress, known, nowMs }: { egress: EgressPolicy; known: CrawledPage | undefined; nowMs: NowMs },
  signal: AbortSignal,
): Promise<PageFetchResult> {
  const conditions = conditionsOf(known);
  const asked = { egress, redirects: REDIRECTS, totalMs: TOTAL_MS, accept: PAGE_TYPES, maxBytesOf, conditions };
  try {
    return judge(await fetchAddress(address, asked, signal), known, nowMs);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof WebError)) throw error;
    const reason = REASONS[error.code];
    return reason === undefined ? { kind: 'failed' } : { kind: 'gone', reason };
  }
}

const REASONS = { refused: 'leads_outside', too_large: 'too_large', unusable: 'unreadable', unreachable: undefined };

function judge(answer: WebResponse, known: CrawledPage | undefined, nowMs: NowMs): PageFetchResult {
  const { status, body } = answer;
  if (status === 304 && known) return { kind: 'unchanged' };
  if (NOT_THERE.has(status)) return { kind: 'gone', reason: 'not_found' };
  if (CLOSED.has(status)) return { kind: 'gone', reason: 'closed' };
  if (BUSY.has(status)) return { kind: 'failed', waitMs: waitOf(answer.header('retry-after'), nowMs) };
  if (status !== 200) return { kind: 'failed' };
  if (!body) return { kind: 'gone', reason: 'unknown_kind' };
  if (answer.url.href.length > MAX_URL_CHARS) return { kind: 'gone', reason: 'unreadable' };
  const [etag, lastModified] = [plainHeader(answer, 'etag'), plainHeader(answer, 'last-modified')];
  return { kind: 'page', answer, body, etag, lastModified };
}

function conditionsOf(known: CrawledPage | undefined): Record<string, string> {
  const conditions: Record<string, string> = {};
  if (known?.etag !== undefined) conditions['if-none-match'] = known.etag;
  if (known?.lastModified !== undefined) conditions['if-modified-since'] = known.lastModified;
  return conditions;
}

function plainHeader(answer: WebResponse, name: string): string | undefined {
  const value = answer.header(name);
  return value !== undefined && HEADER_VALUE.test(value) ? value : undefined;
}

/** @returns milliseconds; undefined if there is no time or it is too far away */
function waitOf(retryAfter: string | undefined, nowMs: NowMs): number | undefined {
  if (retryAfter === undefined) return undefined;
  const waitMs = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * SECOND_MS : Date.parse(retryAfter) - nowMs();
  return waitMs >= -DAY_MS && waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) : undefined;
}
