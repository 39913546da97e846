import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';
import { WebError } from './web-error.ts';

/** Which addresses may be reached. Tests pass their own policy; no setting relaxes it. */
export interface EgressPolicy {
  protocols: readonly string[];
  mayUsePort(port: number): boolean;
  mayConnect(address: string): boolean;
  /** Whether a URL may be opened. Defaults to any. */
  mayOpen?(url: URL): boolean;
  /** All IP addresses of a name. @throws if it has none */
  resolve(hostname: string): Promise<readonly string[]>;
}

/** Only the public web (SECURITY.md egress-checked). */
export const PUBLIC_WEB: EgressPolicy = {
  protocols: ['https:'],
  mayUsePort: (port) => port === 443 || port === 80,
  mayConnect: isPublicAddress,
  async resolve(hostname) {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  },
};

/** A checked URL: only these IP addresses may be connected to. */
export interface CheckedAddress {
  url: URL;
  addresses: readonly [string, ...string[]];
}

const NOT_ALLOWED = 'This address cannot be opened: only public https pages are allowed.';

/**
 * Parses an address with the same parser that the request uses, resolves its name once, and checks every resulting IP
 * address (SECURITY.md egress-checked).
 * @throws WebError `refused`; `unreachable` if the name has no address. Neither reveals internal hosts
 */
export async function checkAddress(text: string, egress: EgressPolicy, base?: URL): Promise<CheckedAddress> {
  if (!URL.canParse(text, base?.href)) throw new WebError('refused', 'This is not the address of a page.');
  const url = new URL(text, base);
  const { protocols, mayUsePort, mayConnect, mayOpen = () => true } = egress;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const hasCredentials = url.username !== '' || url.password !== '';
  if (!protocols.includes(url.protocol) || hasCredentials || !mayUsePort(port))
    throw new WebError('refused', NOT_ALLOWED);
  if (!mayOpen(url)) throw new WebError('refused', NOT_ALLOWED);
  const [first, ...others] = await resolve(url.hostname.replace(/^\[|\]$/g, ''), egress);
  if (first === undefined) throw new WebError('unreachable', 'This host does not exist.');
  const addresses = [first, ...others] as const;
  if (!addresses.every(mayConnect)) throw new WebError('refused', NOT_ALLOWED);
  url.hash = '';
  return { url, addresses };
}

async function resolve(hostname: string, egress: EgressPolicy): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  return egress.resolve(hostname).catch(() => []);
}
