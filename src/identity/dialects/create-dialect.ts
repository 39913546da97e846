import type { ProfileRules } from '../oauth/profile-response.ts';
import type { SignInService } from '../options.ts';
import { createCasDialect } from './cas-dialect.ts';
import type { SignInDialect } from './dialect.ts';
import { createOauth2Dialect } from './oauth2-dialect.ts';
import { createOidcDialect } from './oidc-dialect.ts';

const MAKERS = { oauth2: createOauth2Dialect, oidc: createOidcDialect, cas: createCasDialect };

/** The dialect that the deployment's sign-in service speaks; the specification's own unless told. */
export function createDialect(service: SignInService, rules: ProfileRules): SignInDialect {
  return MAKERS[service.type ?? 'oauth2'](service, rules);
}
