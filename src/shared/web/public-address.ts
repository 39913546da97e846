import { BlockList, isIP } from 'node:net';

/** IPv4 networks that the IANA special-purpose registries exclude from the public internet (SECURITY.md egress-checked). */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** The only IPv6 networks allocated to the public internet. Mapped, NAT64, local and multicast addresses lie outside. */
const GLOBAL_V6 = '2000::/3';
/** Exceptions within: protocol assignments with Teredo, documentation, 6to4 and others. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'];

const blockedV4 = listOf(NOT_PUBLIC_V4, 'ipv4');
const globalV6 = listOf([GLOBAL_V6], 'ipv6');
const blockedV6 = listOf(NOT_PUBLIC_V6, 'ipv6');

/** Whether an IP address belongs to the public internet. False for anything that is not a plain IP address. */
export function isPublicAddress(address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 4) return !blockedV4.check(address, 'ipv4');
  return family === 6 && globalV6.check(address, 'ipv6') && !blockedV6.check(address, 'ipv6');
}

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', bits] = range.split('/');
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}
