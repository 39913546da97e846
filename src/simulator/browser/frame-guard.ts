import type { IncomingMessage } from 'node:http';

/**
 * Whether a request to a frame's listener must be rejected. The listener acts as a person, so other sites that the developer
 * has open must not reach it: not through another host name (DNS rebinding), not across sites, and forms only from the
 * frame's own pages.
 */
export function refuseForeignRequest(request: IncomingMessage, ownUrl: string): boolean {
  if (`http://${request.headers.host}` !== ownUrl) return true;
  if (request.method !== 'GET' && request.method !== 'POST') return true;
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') return true;
  if (request.method === 'GET') return false;
  if (site !== undefined) return site !== 'same-origin';
  return request.headers.origin !== undefined && request.headers.origin !== ownUrl;
}
