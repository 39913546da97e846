import type { ProfileRules } from '../oauth/profile-response.ts';
import type { SignInService } from '../options.ts';
import { createCasDialect } from './cas-provider.ts';
import type { SignInDialect } from './provider.ts';
import { createOauth2Dialect } from './oauth2-provider.ts';
import { createOidcDialect } from './oidc-provider.ts';

const MAKERS = { oauth2: createOauth2Dialect, oidc: createOidcDialect, cas: createCasDialect };

/** Creates the adapter for the configured sign-in service. Defaults to OAuth 2.0. */
export function createDialect(service: SignInService, rules: ProfileRules): SignInDialect {
  return MAKERS[service.type ?? 'oauth2'](service, rules);
}
