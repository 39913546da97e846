import { Agent, request, type Dispatcher } from 'undici';
import { outgoingConnector } from '../http/http-agent.ts';
import { unlessAborted } from '../abortable.ts';
import { checkAddress, type CheckedAddress, type EgressPolicy } from './egress-policy.ts';
import { readPlainPieces } from './read-plain-body.ts';
import { WebError } from './web-error.ts';

/** What is asked of an address, and how much of it. */
export interface WebRequest {
  egress: EgressPolicy;
  redirects: number;
  /** For everything: names, connections, all hops, the body. */
  totalMs: number;
  /** Media types that are of use. */
  accept: string;
  /** So much of a body of this media type is read, after decompression; undefined for one that is of no use. */
  mostBytesOf(mediaType: string): number | undefined;
  /** Of what is known of it from before: then it may answer with status 304. */
  conditions?: Readonly<Record<string, string>>;
}

export interface WebAnswer {
  /** Where it was found in the end. */
  url: URL;
  status: number;
  /** Without parameters, in small letters; empty where none is named. */
  mediaType: string;
  charset: string | undefined;
  /** @param name in small letters */
  header(name: string): string | undefined;
  /** Of status 200 alone, and of media types that are of use; in pieces. */
  body: readonly Buffer[] | undefined;
}

const HEADERS = { 'user-agent': 'Mozilla/5.0 (compatible; Parley)', 'accept-encoding': 'gzip, deflate, br' };
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches what stands at an address, by the rules of SECURITY.md egress-checked: each hop is checked and connected to an address that
 * was checked, without cookies or credentials, within limits. @throws WebError, or the signal's reason
 */
export async function fetchAddress(address: string, asked: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
  const { egress } = asked;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(asked.totalMs)]);
  try {
    // A look-up cannot be ended; it is no longer waited for.
    let checked = await unlessAborted(checkAddress(address, egress), ending);
    for (let hop = 0; hop <= asked.redirects; hop += 1) {
      const answer = await fetchOnce(checked, asked, ending);
      if (!('location' in answer)) return answer;
      checked = await unlessAborted(checkAddress(answer.location, egress, checked.url), ending);
    }
    throw new WebError('unreachable', 'The page leads on and on to others.');
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
): Promise<WebAnswer | { location: string }> {
  // Names are looked up before, once: whatever they lead to by now, the connection goes to what was checked, behind a proxy too.
  const agent = new Agent({ connect: outgoingConnector({ pinnedTo: addresses }) });
  const headers = { ...HEADERS, accept: asked.accept, ...asked.conditions };
  try {
    const answer = await request(url, { dispatcher: agent, method: 'GET', headers, signal });
    // A body that is not read ends with the agent; that end is nobody's error.
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
  { mostBytesOf }: WebRequest,
): Promise<WebAnswer> {
  const contentType = firstOf(headers['content-type']) ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const charset = /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType)?.[1];
  const mostBytes = statusCode === 200 ? mostBytesOf(mediaType) : undefined;
  const plain =
    mostBytes === undefined ? undefined : await readPlainPieces(body, firstOf(headers['content-encoding']), mostBytes);
  return { url, status: statusCode, mediaType, charset, header: (name) => firstOf(headers[name]), body: plain };
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
