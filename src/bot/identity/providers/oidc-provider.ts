import { OidcClient } from '../../../shared/sign-in/oidc-client.ts';
import { IdentityError } from '../identity-error.ts';
import type { ProfileRules } from '../oauth/profile-response.ts';
import { tokenLifeMs } from '../oauth/token-life.ts';
import { classifyRefusal } from '../oauth/token-response.ts';
import type { SignInService } from '../options.ts';
import type { CurrentToken, SignInProvider } from './provider.ts';
import { profileOfClaims } from './profile-of-claims.ts';
import { withIdentityErrors } from './provider-failure.ts';

/** Entra's codes have well over a thousand characters. */
const MAX_CODE_CHARS = 3_072;

/** OpenID Connect: the id token and the userinfo endpoint together identify the user. */
export function createOidcProvider(service: SignInService, rules: ProfileRules): SignInProvider {
  const { authUrl: issuer, clientId, clientSecret, clientAuth, scope = 'openid profile', profileMap = {} } = service;
  const client = new OidcClient({ issuer, clientId, clientSecret, clientAuth, scope });
  const profileOf = async ({ accessToken, subject, claims }: CurrentToken) => {
    if (subject === undefined) throw new IdentityError('service_refused', 'The tokens contain no subject');
    const more = await client.userInfo(accessToken, subject);
    return profileOfClaims({ ...claims, ...more, sub: subject }, profileMap, rules);
  };
  return {
    returns: { name: 'code', maxChars: MAX_CODE_CHARS },
    checksByRenewal: true,
    returnsOnlySignedOut: false,
    startAuthorization: ({ redirectUri, state }) =>
      withIdentityErrors(() => client.startAuthorization({ callbackUrl: redirectUri, state, forcesLogin: false })),
    redeem: ({ redirectUri, state, query, kept }) =>
      withIdentityErrors(async () => {
        const { claims, expiresIn, ...tokens } = await client.redeem({ callbackUrl: redirectUri, state, query, kept });
        const subject = claims.sub;
        return {
          tokens: { ...tokens, subject },
          lifeMs: tokenLifeMs(expiresIn, 'seconds'),
          profile: () => withIdentityErrors(() => profileOf({ accessToken: tokens.accessToken, subject, claims })),
        };
      }),
    renew: ({ refreshToken = '', subject }) =>
      withIdentityErrors(async () => {
        // Stored by another protocol, before the configuration changed.
        if (subject === undefined) return { kind: 'refused', refusal: 'definitive', status: 0 };
        const renewed = await client.refresh(refreshToken);
        if ('refusal' in renewed) {
          const { status, error } = renewed.refusal;
          return { kind: 'refused', refusal: classifyRefusal({ status, body: JSON.stringify({ error }) }), status };
        }
        const { claims, expiresIn, ...tokens } = renewed;
        if (claims !== undefined && claims['sub'] !== subject)
          throw new IdentityError('profile_unfit', 'A refresh returned tokens of another subject');
        return { kind: 'renewed', tokens: { ...tokens, lifeMs: tokenLifeMs(expiresIn, 'seconds') }, claims };
      }),
    profile: (token) => withIdentityErrors(() => profileOf(token)),
    logoutUrl: (returnTo) => client.logoutUrl(returnTo).catch(() => undefined),
  };
}
