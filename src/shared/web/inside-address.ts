// Used by the crawls of sites (bot/knowledge/site/crawl-scope.ts), which may be internal. `checkAddress` (egress-policy.ts)
// refuses an address that the caller's policy does not allow.
import { BlockList, isIP } from 'node:net';

/** Private networks of an institution. They contain no link-local, unspecified or multicast addresses. */
const INSIDE: readonly [net: string, bits: number, family: 'ipv4' | 'ipv6'][] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
];
/** Addresses of cloud metadata services, which expose a machine's own secrets, within private networks. */
const SECRETS_OF_CLOUDS: readonly string[] = ['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'];

const inside = new BlockList();
for (const [net, bits, family] of INSIDE) inside.addSubnet(net, bits, family);
const secrets = new BlockList();
for (const address of SECRETS_OF_CLOUDS) secrets.addAddress(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
const here = new BlockList();
here.addSubnet('127.0.0.0', 8, 'ipv4');
here.addAddress('::1', 'ipv6');

/** Whether an IP address lies in a private network. */
export function isPrivateAddress(address: string): boolean {
  return isIn(inside, address) && !isIn(secrets, address);
}

/** Whether an IP address is a loopback address. */
export function isLoopback(address: string): boolean {
  return isIn(here, address);
}

/** An address that embeds one of the other family belongs to neither. */
function isIn(list: BlockList, address: string): boolean {
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 4) return list.check(address, 'ipv4');
  return family === 6 && !/^::ffff:/i.test(address) && list.check(address, 'ipv6');
}
