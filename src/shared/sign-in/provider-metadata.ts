import type { ServerMetadata } from 'openid-client';
import { readJsonObject } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';

const DISCOVERY_PATH = '/.well-known/openid-configuration';
const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** Where a provider says what it is. The issuer may also be given as this address. */
export function discoveryAddress(issuer: string): string {
  return `${withoutDiscovery(issuer)}${DISCOVERY_PATH}`;
}

/** Whether two names are one issuer: a slash at the end makes no difference, since both lead to the same discovery. */
export function isSameIssuer(given: string, named: unknown): named is string {
  return typeof named === 'string' && withoutDiscovery(given) === named.replace(/(?<!\/)\/+$/, '');
}

/** The name of an issuer that stands for every tenant of a provider, as Entra ID's `common` has it. */
export function isForEveryTenant(named: unknown): boolean {
  return typeof named === 'string' && named.includes('{tenantid}');
}

/** Reads a discovery. @throws ProviderError `failed`, with the reason */
export function readMetadata(issuer: string, answer: { status: number; body: string }): ServerMetadata {
  const metadata = answer.status === 200 ? readJsonObject(answer.body) : undefined;
  if (!metadata) throw new ProviderError('failed', `The OIDC provider has no discovery (HTTP ${answer.status})`);
  const named = metadata['issuer'];
  if (isForEveryTenant(named))
    throw new ProviderError('failed', 'The OIDC issuer stands for every tenant: the address must name yours');
  if (!isSameIssuer(issuer, named))
    throw new ProviderError('failed', 'The OIDC provider calls itself by another issuer than the settings do');
  const missing = REQUIRED.filter((field) => typeof metadata[field] !== 'string');
  if (missing.length > 0) throw new ProviderError('failed', `The OIDC discovery has no ${missing.join(', ')}`);
  return metadata as unknown as ServerMetadata;
}

function withoutDiscovery(issuer: string): string {
  const bare = issuer.replace(/(?<!\/)\/+$/, '');
  return bare.endsWith(DISCOVERY_PATH) ? bare.slice(0, -DISCOVERY_PATH.length).replace(/(?<!\/)\/+$/, '') : bare;
}
