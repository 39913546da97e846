import { Agent, request, type Dispatcher } from 'undici';
import { MIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { outgoingConnector } from '../../base/outgoing.ts';
import { ToolError } from '../tool-error.ts';
import { checkAddress, type CheckedAddress, type EgressPolicy } from './egress-policy.ts';
import { readPlainBody } from './read-plain-body.ts';

export interface FetchedPage {
  /** Where it was found in the end. */
  url: URL;
  /** Without parameters, in small letters. */
  mediaType: string;
  charset: string | undefined;
  body: Buffer;
}

export interface FetchLimits {
  redirects: number;
  /** For everything: names, connections, all hops, the body. */
  totalMs: number;
  /** After decompression. */
  bodyBytes: number;
}

export const FETCH_LIMITS: FetchLimits = { redirects: 3, totalMs: 10 * SECOND_MS, bodyBytes: 2 * MIB_BYTES };

const HEADERS = {
  'user-agent': 'Mozilla/5.0 (compatible; Parley)',
  accept: 'text/html, application/xhtml+xml, text/plain;q=0.9',
  'accept-encoding': 'gzip, deflate, br',
};
const READABLE_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml', 'text/plain']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a page by the rules of SECURITY.md egress-checked: each hop is checked and connected to an address that was checked, without
 * cookies or credentials, within 10 s and 2 MiB. @throws ToolError, or the signal's reason
 */
export async function fetchPage(
  address: string,
  { egress, limits = FETCH_LIMITS }: { egress: EgressPolicy; limits?: FetchLimits },
  signal: AbortSignal,
): Promise<FetchedPage> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(limits.totalMs)]);
  try {
    let checked = await until(checkAddress(address, egress), ending);
    for (let hop = 0; hop <= limits.redirects; hop += 1) {
      const answer = await fetchOnce(checked, limits, ending);
      if ('body' in answer) return answer;
      checked = await until(checkAddress(answer.location, egress, checked.url), ending);
    }
    throw new ToolError('unreachable', 'The page leads on and on to others.');
  } catch (error) {
    if (error instanceof ToolError) throw error;
    signal.throwIfAborted();
    throw new ToolError('unreachable', ending.aborted ? 'The page took too long.' : 'The page cannot be reached.');
  }
}

async function fetchOnce(
  { url, addresses }: CheckedAddress,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<FetchedPage | { location: string }> {
  // Names are looked up before, once: whatever they lead to by now, the connection goes to what was checked, behind a proxy too.
  const agent = new Agent({ connect: outgoingConnector({ pinnedTo: addresses }) });
  try {
    const answer = await request(url, { dispatcher: agent, method: 'GET', headers: HEADERS, signal });
    // A body that is not read ends with the agent; that end is nobody's error.
    answer.body.on('error', () => undefined);
    const location = firstOf(answer.headers['location']);
    if (REDIRECTS.has(answer.statusCode) && location !== undefined) return { location };
    return await readPage(url, answer, limits);
  } finally {
    await agent.destroy();
  }
}

async function readPage(
  url: URL,
  { statusCode, headers, body }: Dispatcher.ResponseData,
  limits: FetchLimits,
): Promise<FetchedPage> {
  if (statusCode !== 200) throw new ToolError('unreachable', `The page answers with status ${statusCode}.`);
  const contentType = firstOf(headers['content-type']) ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!READABLE_TYPES.has(mediaType)) throw new ToolError('unusable', 'The address leads to no page of text.');
  const charset = /;\s*charset\s*=\s*"?([\w:.-]{1,40})/i.exec(contentType)?.[1];
  const plain = await readPlainBody(body, firstOf(headers['content-encoding']), limits.bodyBytes);
  return { url, mediaType, charset, body: plain };
}

/** A look-up cannot be ended; it is no longer waited for. */
async function until<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, ended]).finally(() => signal.removeEventListener('abort', stop));
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
