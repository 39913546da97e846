import type { ServiceClient } from '../clients-file.ts';

/** An address to redirect to after the next sign-in, and its application. */
export interface ServiceAddress {
  client: ServiceClient;
  address: string;
}

/**
 * The `service` parameter of a sign-out. Only registered addresses are accepted: any other would lend our name to foreign
 * pages.
 * @returns undefined for any other address, and for a missing or repeated one
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

/** Our own path that redirects to it after a sign-in. */
export function afterSignInPath({ address }: ServiceAddress): string {
  return `/sign-in/return?${new URLSearchParams({ service: address }).toString()}`;
}
