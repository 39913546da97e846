import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

/**
 * Names without a dot (containers, `localhost`, IPv6 addresses) and names under reserved suffixes: public DNS cannot point
 * them at this server.
 */
const LOCAL_NAME = /^(?:[^.]+|.+\.(?:localhost|internal))$/;

/**
 * Whether a browser requested our own host name. Behind proxies only X-Forwarded-Host counts, because a proxy may send a
 * different Host. Without that header the request counts as ours.
 */
export function isPublicHost({ headers }: IncomingMessage, publicOrigin: string, trustedProxyHops: number): boolean {
  const named = trustedProxyHops > 0 ? headers['x-forwarded-host'] : headers.host;
  const [host = ''] = String(named ?? '').split(',');
  return host === '' || hostnameOf(host.trim()) === new URL(publicOrigin).hostname;
}

/**
 * Whether a request names a host that is neither ours, an address nor a local name: another site may have pointed its own
 * name here to read our responses (DNS rebinding, SECURITY.md own-host).
 */
export function isForeignHost(request: IncomingMessage, publicOrigin: string): boolean {
  const name = hostnameOf(request.headers.host ?? '');
  return !isPublicHost(request, publicOrigin, 0) && isIP(name) === 0 && !LOCAL_NAME.test(name);
}

/** Rejects a request that names a foreign host. */
export function refuseForeignHost(response: ServerResponse, ownUrl: string): void {
  response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`Open ${ownUrl} instead.\n`);
}

/** Ignores the port: a proxy may use a different one. */
function hostnameOf(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return '';
  }
}
