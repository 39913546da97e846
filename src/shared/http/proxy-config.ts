import { BlockList, isIP, isIPv4 } from 'node:net';

/** The proxies of this machine, as its operator names them. */
export interface WayOut {
  /** For https:// addresses. */
  httpsProxy: string | undefined;
  /** For http:// addresses. */
  httpProxy: string | undefined;
  /** Hosts that are reached without a proxy: names with all below them, addresses, networks such as 10.0.0.0/8, `*` for all. */
  noProxy: readonly string[];
}

interface Target {
  /** `https:` or `http:` */
  protocol: string;
  /** With or without brackets. */
  hostname: string;
  /** Empty where it is the protocol's own. */
  port: string;
}

let https: URL | undefined;
let http: URL | undefined;
let isDirect: (target: Target) => boolean = () => true;

/**
 * How this process reaches other machines from now on. It is a fact of the machine and not of one call, so it is said once, at the
 * start of a process, and asked for whenever a connection is opened.
 */
export function goOutThrough({ httpsProxy, httpProxy, noProxy }: WayOut): void {
  https = httpsProxy === undefined ? undefined : new URL(httpsProxy);
  http = httpProxy === undefined ? undefined : new URL(httpProxy);
  const rules = noProxy.map(directRule);
  isDirect = (target) => isThisMachine(bare(target.hostname)) || rules.some((rule) => rule(target));
}

/** The proxy to be asked for a connection; undefined where it goes there directly, as it always does on this machine. */
export function proxyFor(target: Target): URL | undefined {
  const proxy = target.protocol === 'https:' ? https : http;
  return proxy && !isDirect(target) ? proxy : undefined;
}

/** Port of a target, also where its address does not name one. */
export function portOf({ protocol, port }: Pick<Target, 'protocol' | 'port'>): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** A host name as it is looked up: IPv6 addresses stand in brackets only within an address. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function isThisMachine(hostname: string): boolean {
  if (isIP(hostname) !== 0) return hostname === '::1' || hostname.startsWith('127.');
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function directRule(entry: string): (target: Target) => boolean {
  const network = networkOf(entry);
  if (network) return ({ hostname }) => isIP(bare(hostname)) !== 0 && network.check(bare(hostname), familyOf(hostname));
  if (entry === '*') return () => true;
  const [, name = '', port = ''] = /^(.+?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const host = bare(name.replace(/^\*?\./, ''));
  return (target) => {
    if (port !== '' && Number(port) !== portOf(target)) return false;
    const hostname = bare(target.hostname);
    return hostname === host || (isIP(hostname) === 0 && hostname.endsWith(`.${host}`));
  };
}

/** A network in CIDR form; undefined for all else. */
function networkOf(entry: string): BlockList | undefined {
  const [address = '', length = '', ...more] = entry.split('/');
  const most = isIPv4(address) ? 32 : 128;
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(length) || Number(length) > most || more.length > 0) return undefined;
  const network = new BlockList();
  network.addSubnet(address, Number(length), familyOf(address));
  return network;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(bare(address)) ? 'ipv4' : 'ipv6';
}
