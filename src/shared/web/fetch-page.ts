import { MIB_BYTES, SECOND_MS } from '../clock.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { fetchAddress } from './fetch-address.ts';
import { WebError } from './web-error.ts';

export interface FetchedPage {
  /** Final address after redirects. */
  url: URL;
  /** Media type without parameters, in lower case. */
  mediaType: string;
  charset: string | undefined;
  body: Buffer;
}

export interface FetchLimits {
  redirects: number;
  /** Total time limit: DNS, connections, all redirects and the body. */
  totalMs: number;
  /** Maximum size after decompression. */
  bodyBytes: number;
}

export const FETCH_LIMITS: FetchLimits = { redirects: 3, totalMs: 10 * SECOND_MS, bodyBytes: 2 * MIB_BYTES };

const ACCEPT = 'text/html, application/xhtml+xml, text/plain;q=0.9';
const READABLE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'text/plain']);

/** Fetches a text page. Defaults to at most 10 s and 2 MiB. @throws WebError, or the signal's reason */
export async function fetchPage(
  address: string,
  { egress, limits = FETCH_LIMITS }: { egress: EgressPolicy; limits?: FetchLimits },
  signal: AbortSignal,
): Promise<FetchedPage> {
  const { redirects, totalMs, bodyBytes } = limits;
  const maxBytesOf = (mediaType: string) => (READABLE_TYPES.has(mediaType) ? bodyBytes : undefined);
  const asked = { egress, redirects, totalMs, accept: ACCEPT, maxBytesOf };
  const { url, status, mediaType, charset, body } = await fetchAddress(address, asked, signal);
  if (status !== 200) throw new WebError('unreachable', `The page returned status ${status}.`);
  if (!body) throw new WebError('unusable', 'The address does not lead to a text page.');
  return { url, mediaType, charset, body: Buffer.concat(body) };
}
