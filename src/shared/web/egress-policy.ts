import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';
import { WebError } from './web-error.ts';

/** What may be reached from here. Tests pass their own; there is no setting that loosens it. */
export interface EgressPolicy {
  protocols: readonly string[];
  mayUsePort(port: number): boolean;
  mayConnect(address: string): boolean;
  /** Whether an address may be opened, by how it is written; any unless told. */
  mayOpen?(url: URL): boolean;
  /** All addresses of a name. @throws when it has none */
  resolve(hostname: string): Promise<readonly string[]>;
}

/** The public web, and nothing else (SECURITY.md egress-checked). */
export const PUBLIC_WEB: EgressPolicy = {
  protocols: ['https:'],
  mayUsePort: (port) => port === 443 || port === 80,
  mayConnect: isPublicAddress,
  async resolve(hostname) {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  },
};

/** An address that was looked at: only these IP addresses may be connected to. */
export interface CheckedAddress {
  url: URL;
  addresses: readonly [string, ...string[]];
}

const NOT_ALLOWED = 'This address may not be opened: only public https pages can be read.';

/**
 * Reads an address with the one parser that the request uses too, looks its name up once, and checks every IP address
 * that it has (SECURITY.md egress-checked).
 * @throws WebError `refused`; `unreachable` when the name has no address. Neither says what lies inside
 */
export async function checkAddress(text: string, egress: EgressPolicy, base?: URL): Promise<CheckedAddress> {
  if (!URL.canParse(text, base?.href)) throw new WebError('refused', 'This is no address of a page.');
  const url = new URL(text, base);
  const { protocols, mayUsePort, mayConnect, mayOpen = () => true } = egress;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const hasCredentials = url.username !== '' || url.password !== '';
  if (!protocols.includes(url.protocol) || hasCredentials || !mayUsePort(port))
    throw new WebError('refused', NOT_ALLOWED);
  if (!mayOpen(url)) throw new WebError('refused', NOT_ALLOWED);
  const [first, ...others] = await resolve(url.hostname.replace(/^\[|\]$/g, ''), egress);
  if (first === undefined) throw new WebError('unreachable', 'There is no such host.');
  const addresses = [first, ...others] as const;
  if (!addresses.every(mayConnect)) throw new WebError('refused', NOT_ALLOWED);
  url.hash = '';
  return { url, addresses };
}

async function resolve(hostname: string, egress: EgressPolicy): Promise<readonly string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  return egress.resolve(hostname).catch(() => []);
}
