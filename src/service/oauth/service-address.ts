import type { ServiceClient } from '../clients-file.ts';

/** An address to go to once somebody has signed in again, and the application whose it is. */
export interface ServiceAddress {
  client: ServiceClient;
  address: string;
}

/**
 * The parameter `service` of a sign-out. Only registered addresses count: anything else would lend our name to strangers' pages.
 * @returns undefined for another address, and for one that is missing or repeated
 */
export function readServiceAddress(
  querystring: string,
  clients: ReadonlyMap<string, ServiceClient>,
): ServiceAddress | undefined {
  const [address, ...more] = new URLSearchParams(querystring).getAll('service');
  if (address === undefined || more.length > 0) return undefined;
  const client = [...clients.values()].find(({ redirectUris }) => redirectUris.includes(address));
  return client && { client, address };
}

/** The place of ours that leads to it, for whoever has signed in. */
export function afterSignInPath({ address }: ServiceAddress): string {
  return `/sign-in/return?${new URLSearchParams({ service: address }).toString()}`;
}
