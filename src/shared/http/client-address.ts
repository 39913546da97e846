import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';

/**
 * Address used for per-client limits: the socket's, or the `X-Forwarded-For` entry that the outermost trusted proxy wrote.
 * Entries further left are set by the client. A header with fewer entries than trusted proxies is ignored too, because it
 * did not pass through them. An IPv6 address is reduced to its /64, which usually belongs to one household or machine.
 */
export function clientAddress(request: IncomingMessage, trustedProxyHops: number): string {
  const socketAddress = request.socket.remoteAddress ?? '';
  const forwarded = trustedProxyHops === 0 ? undefined : forwardedEntry(request, trustedProxyHops);
  return addressIn(forwarded ?? '') ?? addressIn(socketAddress) ?? 'unknown';
}

function forwardedEntry({ headers }: IncomingMessage, trustedProxyHops: number): string | undefined {
  const header = headers['x-forwarded-for'];
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',');
  return entries.at(-trustedProxyHops);
}

/** Extracts the address from `1.2.3.4:80`, `[2001:db8::1]:443` or `fe80::1%eth0`; undefined if there is none. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*)(?::\d*)?)$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? plain ?? text).split('%');
  if (isIPv4(address)) return address;
  return isIPv6(address) ? networkOf(address) : undefined;
}

/** The /64 of an IPv6 address, or the IPv4 address that it maps. */
function networkOf(address: string): string {
  // The URL parser normalizes every spelling of an address.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== '')) as [
    string[],
    string[],
  ];
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  const isMapped = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff';
  if (!isMapped) return `${groups.slice(0, 4).join(':')}::/64`;
  const octets = groups.slice(6).flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]);
  return octets.join('.');
}
