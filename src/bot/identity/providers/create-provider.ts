import type { ProfileRules } from '../oauth/profile-response.ts';
import type { SignInService } from '../options.ts';
import { createCasProvider } from './cas-provider.ts';
import type { SignInProvider } from './provider.ts';
import { createOauth2Provider } from './oauth2-provider.ts';
import { createOidcProvider } from './oidc-provider.ts';

const MAKERS = { oauth2: createOauth2Provider, oidc: createOidcProvider, cas: createCasProvider };

/** Creates the adapter for the configured sign-in service. Defaults to OAuth 2.0. */
export function createSignInProvider(service: SignInService, rules: ProfileRules): SignInProvider {
  return MAKERS[service.type ?? 'oauth2'](service, rules);
}
