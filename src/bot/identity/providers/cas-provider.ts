import { CasClient } from '../../../shared/sign-in/cas-client.ts';
import { IdentityError } from '../identity-error.ts';
import type { ProfileRules } from '../oauth/profile-response.ts';
import type { SignInService } from '../options.ts';
import type { SignInProvider } from './provider.ts';
import { profileOfClaims } from './profile-of-claims.ts';
import { withIdentityErrors } from './provider-failure.ts';

/** CAS: a service ticket identifies the user once and cannot be refreshed or checked again, so links expire by age. */
export function createCasProvider({ authUrl, profileMap = {} }: SignInService, rules: ProfileRules): SignInProvider {
  const client = new CasClient(authUrl);
  return {
    returns: { name: 'ticket', maxChars: 3_072 },
    checksByRenewal: false,
    returnsOnlySignedOut: true,
    startAuthorization: async ({ redirectUri, state }) => ({
      location: client.loginUrl({ callbackUrl: redirectUri, state }),
      kept: '',
    }),
    redeem: ({ code, redirectUri, state }) =>
      withIdentityErrors(async () => {
        const claims = await client.claimsOf(code, { callbackUrl: redirectUri, state });
        const profile = () => withIdentityErrors(() => profileOfClaims(claims, profileMap, rules));
        return { tokens: {}, lifeMs: 0, profile };
      }),
    renew: async () => ({ kind: 'refused', refusal: 'definitive', status: 0 }),
    profile: () => Promise.reject(new IdentityError('service_refused', 'CAS cannot re-validate an account')),
    logoutUrl: (returnTo) => Promise.resolve(client.logoutUrl(returnTo)),
  };
}
