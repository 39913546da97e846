import { MIB_BYTES, MINUTE_MS } from '../../../shared/clock.ts';
import { callHttp, type HttpCall } from '../../../shared/http/call-http.ts';
import { ToolError } from '../tool-error.ts';

export interface SearchResult {
  title: string;
  url: string;
  excerpt: string;
}

/** A web search service. @throws ToolError `unreachable`, or the signal's reason */
export type SearchWeb = (query: string, signal: AbortSignal) => Promise<SearchResult[]>;

const MAX_BYTES = MIB_BYTES;
/** The signal usually ends the request earlier. */
const TIMEOUT_MS = MINUTE_MS;

/**
 * Sends one request to a search service, without retries or redirects. @returns the JSON response. @throws ToolError
 * `unreachable`, without the address or the HTTP client's error, which may contain the query and the key
 * (SECURITY.md secrets-stay-inside)
 */
export async function requestSearch(
  url: URL,
  call: Pick<HttpCall, 'headers' | 'form'>,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const { status, body } = await callHttp(url, { ...call, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal });
    if (status !== 200) throw new ToolError('unreachable', 'The search service refused the search.');
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError && error.code === 'unreachable') throw error;
    throw new ToolError('unreachable', 'The search service cannot be used at the moment.');
  }
}
