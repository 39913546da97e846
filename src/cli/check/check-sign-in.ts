import type { Config, Secrets } from '../../bot/config/config.ts';
import type { ClientAuthMethod } from '../../shared/sign-in/client-auth.ts';
import type { CheckResult } from '../../bot/platforms/platform.ts';
import { checkCas } from './check-cas.ts';
import { checkOidc } from './check-oidc.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { resultsOf } from './results-of.ts';

export interface SignInCheckOptions {
  /** The service's protocol. Defaults to `oauth2`. */
  type?: Config['signIn']['type'];
  /** Base address of the sign-in interface, issuer, or base address of the CAS server. */
  authUrl: string;
  clientId: string;
  /** Tested with OpenID Connect only. */
  clientSecret?: string;
  clientAuth?: ClientAuthMethod;
  scope?: string;
  publicUrl: string;
}

/** The check options for a deployment's sign-in service. */
export function signInToCheck({ signIn, http }: Config, { signInClientSecret }: Secrets): SignInCheckOptions {
  const { type, url: authUrl, clientId, clientAuth, scope } = signIn;
  return {
    type,
    authUrl,
    clientId,
    clientSecret: signInClientSecret ?? '',
    clientAuth,
    scope,
    publicUrl: http.publicUrl,
  };
}

const { ok, warning, fault } = resultsOf('Sign-in service');

/**
 * Opens the sign-in page as a browser would; no one signs in. With `oauth2`, only a real sign-in can verify the client
 * secret.
 */
export function checkSignIn(options: SignInCheckOptions): Promise<CheckResult[]> {
  const {
    type = 'oauth2',
    authUrl,
    clientId,
    clientSecret = '',
    clientAuth,
    scope = 'openid profile',
    publicUrl,
  } = options;
  const redirectUri = `${publicUrl}/oauth/callback`;
  if (type === 'oidc') return checkOidc({ issuer: authUrl, clientId, clientSecret, clientAuth, scope, redirectUri });
  return type === 'cas' ? checkCas(authUrl, redirectUri) : checkOauth2({ authUrl, clientId, redirectUri });
}

async function checkOauth2({
  authUrl,
  clientId,
  redirectUri,
}: Record<'authUrl' | 'clientId' | 'redirectUri', string>): Promise<CheckResult[]> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: 'check',
  });
  const answer = await requestForCheck(`${authUrl}/oauth2.0/authorize?${query.toString()}`);
  if ('code' in answer)
    return [fault(`cannot be reached (${answer.code})`, 'Check SIGN_IN_URL and that this machine can reach it')];
  if (answer.status >= 500) return [fault(`answers ${answer.status}`, 'Contact the operator of the sign-in service')];
  if (answer.status === 404) {
    const detail = `${authUrl}/oauth2.0/authorize does not exist (404)`;
    return [fault(detail, 'Correct SIGN_IN_URL: /oauth2.0/authorize is appended to it')];
  }
  if (answer.status >= 400) {
    const nextStep = `Register the client SIGN_IN_CLIENT_ID with the redirect address ${redirectUri} at the sign-in service`;
    return [warning(`answers ${answer.status} for our client and redirect address`, nextStep)];
  }
  const nextStep = 'To test a real sign-in, run npm run check -- --sign-in';
  return [ok('shows its sign-in page for our client and redirect address', nextStep)];
}
