import { Agent, request, type Dispatcher } from 'undici';
import { abortAfter } from '../abort-after.ts';
import { outgoingConnector } from '../http/http-agent.ts';
import { abortable } from '../abortable.ts';
import { checkAddress, type CheckedAddress, type EgressPolicy } from './egress-policy.ts';
import { readPlainPieces } from './read-plain-body.ts';
import { WebError } from './web-error.ts';

/** A request for an address, with its limits. */
export interface WebRequest {
  egress: EgressPolicy;
  redirects: number;
  /** Total time limit: DNS, connections, all redirects and the body. */
  totalMs: number;
  /** Accepted media types. */
  accept: string;
  /** Maximum body size for this media type after decompression; undefined for an unsupported type. */
  maxBytesOf(mediaType: string): number | undefined;
  /** Validators of a cached copy; the response may then have status 304. */
  conditions?: Readonly<Record<string, string>>;
}

export interface WebResponse {
  /** Final address after redirects. */
  url: URL;
  status: number;
  /** Media type without parameters, in lower case; empty if there is none. */
  mediaType: string;
  charset: string | undefined;
  /** @param name in lower case */
  header(name: string): string | undefined;
  /** In chunks. Only for status 200 and supported media types. */
  body: readonly Buffer[] | undefined;
}

const HEADERS = { 'user-agent': 'Mozilla/5.0 (compatible; Parley)', 'accept-encoding': 'gzip, deflate, br' };
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches an address by the rules of SECURITY.md egress-checked: every redirect is checked, and only checked IP addresses
 * are connected to. Sends no cookies or credentials, and enforces limits. @throws WebError, or the signal's reason
 */
export async function fetchAddress(address: string, asked: WebRequest, signal: AbortSignal): Promise<WebResponse> {
  const { egress } = asked;
  const ending = abortAfter(asked.totalMs, signal);
  try {
    // A DNS lookup cannot be cancelled, so stop waiting for it.
    let checked = await abortable(checkAddress(address, egress), ending);
    for (let hop = 0; hop <= asked.redirects; hop += 1) {
      const answer = await fetchOnce(checked, asked, ending);
      if (!('location' in answer)) return answer;
      checked = await abortable(checkAddress(answer.location, egress, checked.url), ending);
    }
    throw new WebError('unreachable', 'The page redirects too often.');
  } catch (error) {
    if (error instanceof WebError) throw error;
    signal.throwIfAborted();
    throw new WebError('unreachable', ending.aborted ? 'The page took too long.' : 'The page cannot be reached.');
  }
}

async function fetchOnce(
  { url, addresses }: CheckedAddress,
  asked: WebRequest,
  signal: AbortSignal,
): Promise<WebResponse | { location: string }> {
  // Names are resolved once, in advance: whatever they resolve to now, the connection goes to a checked address, also
  // through a proxy.
  const agent = new Agent({ connect: outgoingConnector({ pinnedTo: addresses }) });
  const headers = { ...HEADERS, accept: asked.accept, ...asked.conditions };
  try {
    const answer = await request(url, { dispatcher: agent, method: 'GET', headers, signal });
    // A body that is not read ends with the agent; that error is ignored.
    answer.body.on('error', () => undefined);
    const location = firstOf(answer.headers['location']);
    if (REDIRECTS.has(answer.statusCode) && location !== undefined) return { location };
    return await readAnswer(url, answer, asked);
  } finally {
    await agent.destroy();
  }
}

async function readAnswer(
  url: URL,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { maxBytesOf }: WebRequest,
): Promise<WebResponse> {
  const contentType = firstOf(headers['content-type']) ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const charset = /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType)?.[1];
  const maxBytes = statusCode === 200 ? maxBytesOf(mediaType) : undefined;
  const plain =
    maxBytes === undefined ? undefined : await readPlainPieces(body, firstOf(headers['content-encoding']), maxBytes);
  return { url, status: statusCode, mediaType, charset, header: (name) => firstOf(headers[name]), body: plain };
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
