import { BlockList, isIP } from 'node:net';
import type { EgressPolicy } from './egress-policy.ts';

const HOST =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/iu;
const BITS = { 4: 32, 6: 128 } as const;

/** Whether this is a host name, or a range of IP addresses (`192.0.2.0/24`, `2001:db8::/32`, one address). */
export function isHostOrRange(text: string): boolean {
  return rangeIn(text) !== undefined || (isIP(text) === 0 && !/^[\d.]+$/.test(text) && HOST.test(text));
}

/**
 * Restricts an egress policy by what an institution shows only to its own network although it has public addresses: hosts by
 * name, with all subdomains, and IP ranges under any name. @param never each must pass `isHostOrRange`
 */
export function denyEgressTo(egress: EgressPolicy, never: readonly string[]): EgressPolicy {
  const ranges = new BlockList();
  const hosts: string[] = [];
  for (const entry of never) {
    const range = rangeIn(entry);
    if (range) ranges.addSubnet(range.net, range.bits, range.family);
    else hosts.push(plainHost(new URL(`https://${entry}`).hostname));
  }
  return {
    ...egress,
    mayOpen: (url) => {
      const asked = plainHost(url.hostname);
      return !hosts.some((host) => asked === host || asked.endsWith(`.${host}`)) && (egress.mayOpen?.(url) ?? true);
    },
    mayConnect: (address) =>
      egress.mayConnect(address) && !ranges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'),
  };
}

/** A name may end with the dot of the root. */
function plainHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

function rangeIn(text: string): { net: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [, net = '', written] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(net);
  if (version !== 4 && version !== 6) return undefined;
  const bits = written === undefined ? BITS[version] : Number(written);
  return bits > BITS[version] ? undefined : { net, bits, family: version === 4 ? 'ipv4' : 'ipv6' };
}
