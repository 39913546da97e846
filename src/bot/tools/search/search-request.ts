import { request, type Dispatcher } from 'undici';
import { MIB_BYTES } from '../../../shared/clock.ts';
import { outgoing } from '../../../shared/http/http-agent.ts';
import { readPlainBody } from '../../../shared/web/read-plain-body.ts';
import { ToolError } from '../tool-error.ts';

export interface SearchResult {
  title: string;
  url: string;
  excerpt: string;
}

/** A service that finds web pages. @throws ToolError `unreachable`, or the signal's reason */
export type SearchWeb = (query: string, signal: AbortSignal) => Promise<SearchResult[]>;

const MOST_BYTES = MIB_BYTES;

/**
 * Asks a search service, once, without redirects. @returns its JSON. @throws ToolError `unreachable`; neither the address
 * nor the HTTP client's error goes on, since they may hold the query and the key (SECURITY.md secrets-stay-inside)
 */
export async function requestSearch(
  url: URL,
  options: { method: Dispatcher.HttpMethod; headers: Record<string, string>; body?: string },
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const answer = await request(url, { ...options, body: options.body ?? null, dispatcher: outgoing, signal });
    const body = await readPlainBody(answer.body, undefined, MOST_BYTES);
    if (answer.statusCode !== 200) throw new ToolError('unreachable', 'The search service refused the search.');
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError && error.code === 'unreachable') throw error;
    throw new ToolError('unreachable', 'The search service cannot be used at the moment.');
  }
}
