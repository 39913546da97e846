import { BlockList, isIP, isIPv4 } from 'node:net';

/** Outgoing proxies, as configured by the operator. */
export interface ProxyConfig {
  /** For https:// addresses. */
  httpsProxy: string | undefined;
  /** For http:// addresses. */
  httpProxy: string | undefined;
  /**
   * Hosts to reach without a proxy: domain names (with all subdomains), addresses, networks such as 10.0.0.0/8, or `*` for
   * all.
   */
  noProxy: readonly string[];
}

interface Target {
  /** `https:` or `http:` */
  protocol: string;
  /** With or without brackets. */
  hostname: string;
  /** Empty for the protocol's default port. */
  port: string;
}

let https: URL | undefined;
let http: URL | undefined;
let isDirect: (target: Target) => boolean = () => true;

/**
 * Sets the proxies of this process. They belong to the machine, not to a single call, so they are set once at start and read
 * whenever a connection is opened.
 */
export function configureProxy({ httpsProxy, httpProxy, noProxy }: ProxyConfig): void {
  https = httpsProxy === undefined ? undefined : new URL(httpsProxy);
  http = httpProxy === undefined ? undefined : new URL(httpProxy);
  const rules = noProxy.map(directRule);
  isDirect = (target) => isThisMachine(bareHostname(target.hostname)) || rules.some((rule) => rule(target));
}

/** The proxy for a target; undefined for a direct connection. This machine is always reached directly. */
export function proxyFor(target: Target): URL | undefined {
  const proxy = target.protocol === 'https:' ? https : http;
  return proxy && !isDirect(target) ? proxy : undefined;
}

/** Port of a target, with the protocol's default if the address has none. */
export function portOf({ protocol, port }: Pick<Target, 'protocol' | 'port'>): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Host name for a lookup: without the brackets that IPv6 addresses have in URLs. */
export function bareHostname(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

function isThisMachine(hostname: string): boolean {
  if (isIP(hostname) !== 0) return hostname === '::1' || hostname.startsWith('127.');
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

function directRule(entry: string): (target: Target) => boolean {
  const network = networkOf(entry);
  if (network)
    return ({ hostname }) =>
      isIP(bareHostname(hostname)) !== 0 && network.check(bareHostname(hostname), familyOf(hostname));
  if (entry === '*') return () => true;
  const [, name = '', port = ''] = /^(.+?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const host = bareHostname(name.replace(/^\*?\./, ''));
  return (target) => {
    if (port !== '' && Number(port) !== portOf(target)) return false;
    const hostname = bareHostname(target.hostname);
    return hostname === host || (isIP(hostname) === 0 && hostname.endsWith(`.${host}`));
  };
}

/** A network in CIDR form; undefined for any other text. */
function networkOf(entry: string): BlockList | undefined {
  const [address = '', length = '', ...more] = entry.split('/');
  const maxBits = isIPv4(address) ? 32 : 128;
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(length) || Number(length) > maxBits || more.length > 0) return undefined;
  const network = new BlockList();
  network.addSubnet(address, Number(length), familyOf(address));
  return network;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(bareHostname(address)) ? 'ipv4' : 'ipv6';
}
