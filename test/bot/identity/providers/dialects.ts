import type { Provider } from '../identity-fixture.ts';
import { startCasStandIn } from './cas-stand-in.ts';
import { startOidcStandIn } from './oidc-stand-in.ts';

/** What sign-in services speak; whatever is tried against one is tried against all. */
export const DIALECTS = ['oauth2', 'oidc', 'cas'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** A service that speaks it; undefined for the specified one, which each fixture has. */
export function startProviderOf(dialect: Dialect): Promise<Provider & { close(): Promise<void> }> | undefined {
  if (dialect === 'oauth2') return undefined;
  return dialect === 'oidc' ? startOidcStandIn() : startCasStandIn();
}
