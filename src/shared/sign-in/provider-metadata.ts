import type { ServerMetadata } from 'openid-client';
import { readJsonObject } from './json-answer.ts';
import { ProviderError } from './provider-error.ts';

const DISCOVERY_PATH = '/.well-known/openid-configuration';
const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/** Discovery path. The issuer may also be configured as this full address. */
export function discoveryAddress(issuer: string): string {
  return `${withoutDiscovery(issuer)}${DISCOVERY_PATH}`;
}

/**
 * Whether two names are the same issuer. A trailing slash makes no difference, because both lead to the same discovery
 * document.
 */
export function isSameIssuer(given: string, named: unknown): named is string {
  return typeof named === 'string' && withoutDiscovery(given) === named.replace(/(?<!\/)\/+$/, '');
}

/** Issuer of a multi-tenant provider, such as `common` of Entra ID. */
export function isForEveryTenant(named: unknown): boolean {
  return typeof named === 'string' && named.includes('{tenantid}');
}

/** Parses a discovery document. @throws ProviderError `failed`, with the reason */
export function readMetadata(issuer: string, answer: { status: number; body: string }): ServerMetadata {
  const metadata = answer.status === 200 ? readJsonObject(answer.body) : undefined;
  if (!metadata)
    throw new ProviderError('failed', `The OIDC provider has no discovery document (HTTP ${answer.status})`);
  const named = metadata['issuer'];
  if (isForEveryTenant(named))
    throw new ProviderError('failed', 'The OIDC issuer is for all tenants: set the address of your tenant');
  if (!isSameIssuer(issuer, named))
    throw new ProviderError('failed', 'The issuer of the OIDC provider differs from the settings');
  // Some providers write null or an empty text for what they do not have.
  const given = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null && value !== ''));
  const missing = REQUIRED.filter((field) => typeof given[field] !== 'string');
  if (missing.length > 0) throw new ProviderError('failed', `The OIDC discovery document has no ${missing.join(', ')}`);
  return given as unknown as ServerMetadata;
}

function withoutDiscovery(issuer: string): string {
  const bare = issuer.replace(/(?<!\/)\/+$/, '');
  return bare.endsWith(DISCOVERY_PATH) ? bare.slice(0, -DISCOVERY_PATH.length).replace(/(?<!\/)\/+$/, '') : bare;
}
