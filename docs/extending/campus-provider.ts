import type { JsonObject } from '../../../shared/parse-json.ts';
import { readJsonObject } from '../../../shared/sign-in/json-answer.ts';
import { IdentityError } from '../identity-error.ts';
import { callService } from '../oauth/call-service.ts';
import type { ProfileRules } from '../oauth/profile-response.ts';
import type { SignInService } from '../options.ts';
import type { SignInProvider } from './provider.ts';
import { profileOfClaims } from './profile-of-claims.ts';
import { withIdentityErrors } from './provider-failure.ts';

/** The campus portal: a ticket identifies the person once. Nothing can be renewed, so links expire. */
export function createCampusProvider(service: SignInService, rules: ProfileRules): SignInProvider {
  const { authUrl, clientId, clientSecret, profileMap = {} } = service;
  return {
    returns: { name: 'ticket', maxChars: 512 },
    checksByRenewal: false,
    returnsOnlySignedOut: false,
    startAuthorization: ({ redirectUri, state }) => {
      const query = new URLSearchParams({ app: clientId, service: redirectUri, state });
      return Promise.resolve({ location: `${authUrl}/login?${query.toString()}`, kept: '' });
    },
    redeem: async ({ code, redirectUri }) => {
      const form = { app: clientId, secret: clientSecret, service: redirectUri, ticket: code };
      const claims = await validate(`${authUrl}/validate`, form);
      const profile = () => withIdentityErrors(() => profileOfClaims(claims, profileMap, rules));
      return { tokens: {}, lifeMs: 0, profile };
    },
    renew: () => Promise.resolve({ kind: 'refused', refusal: 'definitive', status: 0 }),
    profile: () => Promise.reject(new IdentityError('service_refused', 'The portal tells a person once')),
    logoutUrl: () => Promise.resolve(`${authUrl}/logout`),
  };
}

/** The client's error holds the request with its secret, so it is not passed on. */
async function validate(url: string, form: Record<string, string>): Promise<JsonObject> {
  const answer = await callService({ url, form }).catch(() => undefined);
  if (!answer) throw new IdentityError('service_unreachable', 'The portal did not answer');
  const claims = answer.status === 200 ? readJsonObject(answer.body) : undefined;
  if (!claims) throw new IdentityError('service_refused', `The portal refused a ticket: status ${answer.status}`);
  return claims;
}
