import type { Provider } from '../identity-fixture.ts';
import { startCasStandIn } from './cas-stand-in.ts';
import { startOidcStandIn } from './oidc-stand-in.ts';

/** Types of sign-in services. Every attack is tested against all of them. */
export const DIALECTS = ['oauth2', 'oidc', 'cas'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Starts a service of this type; undefined for `oauth2`, which each fixture contains. */
export function startProviderOf(dialect: Dialect): Promise<Provider & { close(): Promise<void> }> | undefined {
  if (dialect === 'oauth2') return undefined;
  return dialect === 'oidc' ? startOidcStandIn() : startCasStandIn();
}
