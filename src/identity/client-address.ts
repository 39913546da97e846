import type { IncomingMessage } from 'node:http';

/**
 * The address that a request's visits are counted under: the socket's, or the entry of `X-Forwarded-For` that the
 * outermost trusted proxy wrote. Entries further left are the client's own words (security.md 3.11).
 */
export function clientAddress(request: IncomingMessage, trustedProxyHops: number): string {
  const socketAddress = request.socket.remoteAddress ?? 'unknown';
  if (trustedProxyHops === 0) return socketAddress;
  const header = request.headers['x-forwarded-for'];
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((entry) => entry.trim());
  const address = entries.at(-trustedProxyHops) ?? '';
  return address === '' ? socketAddress : address;
}
