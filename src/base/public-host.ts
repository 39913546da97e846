import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser asked for us under our own host name. Behind proxies only what they say about it counts, since they may
 * pass on a name of their own; where they say nothing it cannot be judged, and counts as ours.
 */
export function isPublicHost({ headers }: IncomingMessage, publicOrigin: string, trustedProxyHops: number): boolean {
  const named = trustedProxyHops > 0 ? headers['x-forwarded-host'] : headers.host;
  const [host = ''] = String(named ?? '').split(',');
  return host === '' || hostnameOf(host.trim()) === new URL(publicOrigin).hostname;
}

/** Ports are left out: a proxy's need not be ours. */
function hostnameOf(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return '';
  }
}
