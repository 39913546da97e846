import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

/** Names without a dot (containers, `localhost`, IPv6 addresses) and those below reserved endings: public DNS leads none of them here. */
const LOCAL_NAME = /^(?:[^.]+|.+\.(?:localhost|internal))$/;

/**
 * Whether a browser asked for us under our own host name. Behind proxies only what they say about it counts, since they may
 * pass on a name of their own; where they say nothing it cannot be judged, and counts as ours.
 */
export function isPublicHost({ headers }: IncomingMessage, publicOrigin: string, trustedProxyHops: number): boolean {
  const named = trustedProxyHops > 0 ? headers['x-forwarded-host'] : headers.host;
  const [host = ''] = String(named ?? '').split(',');
  return host === '' || hostnameOf(host.trim()) === new URL(publicOrigin).hostname;
}

/**
 * Whether a request names a host that is neither ours, an address nor a local name: a page of another site may have pointed its own
 * name here to read our answers (DNS rebinding, SECURITY.md own-host).
 */
export function isForeignHost(request: IncomingMessage, publicOrigin: string): boolean {
  const name = hostnameOf(request.headers.host ?? '');
  return !isPublicHost(request, publicOrigin, 0) && isIP(name) === 0 && !LOCAL_NAME.test(name);
}

/** Refuses a request that names a foreign host. */
export function refuseForeignHost(response: ServerResponse, ownUrl: string): void {
  response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`Open ${ownUrl} instead.\n`);
}

/** Ports are left out: a proxy's need not be ours. */
function hostnameOf(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return '';
  }
}
