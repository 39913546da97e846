import { BlockList, isIP } from 'node:net';

/** What the IANA registries of special addresses keep from the public internet (SECURITY.md egress-checked), of IPv4. */
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
/** Of IPv6 only what is given to the public internet is let through; mapped, NAT64, local and multicast lie outside. */
const GLOBAL_V6 = '2000::/3';
/** Protocol assignments with Teredo, documentation, 6to4 and others that lie within. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'];

const blockedV4 = listOf(NOT_PUBLIC_V4, 'ipv4');
const globalV6 = listOf([GLOBAL_V6], 'ipv6');
const blockedV6 = listOf(NOT_PUBLIC_V6, 'ipv6');

/** Whether an IP address belongs to the public internet. Anything that is no plain IP address does not. */
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
