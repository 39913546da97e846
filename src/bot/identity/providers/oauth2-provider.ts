import type { ProfileMap } from '../../../shared/sign-in/profile-map-file.ts';
import { IdentityError } from '../identity-error.ts';
import {
  attributesIn,
  profileObject,
  readProfile,
  type Profile,
  type ProfileRules,
} from '../oauth/profile-response.ts';
import { codeChallengeOf, newCodeVerifier } from '../oauth/pkce.ts';
import type { RawResponse } from '../oauth/raw-answer.ts';
import { createServiceRequests } from '../oauth/service-requests.ts';
import { classifyRefusal, readTokenResponse } from '../oauth/token-response.ts';
import type { SignInService } from '../options.ts';
import type { SignInProvider } from './provider.ts';
import { profileOfClaims } from './profile-of-claims.ts';
import { withIdentityErrors } from './provider-failure.ts';

/** The OAuth 2.0 sign-in interface of the specification: `/oauth2.0/authorize`, `accessToken`, `profile`. */
export function createOauth2Provider(settings: SignInService, rules: ProfileRules): SignInProvider {
  const service = createServiceRequests(settings);
  const { profileMap = {} } = settings;
  const hasMap = Object.keys(profileMap).length > 0;
  const read = (answer: RawResponse) =>
    hasMap ? withIdentityErrors(() => profileByMap(answer, profileMap, rules)) : readProfile(answer, rules);
  return {
    returns: { name: 'code', maxChars: 3_072 },
    checksByRenewal: false,
    returnsOnlySignedOut: false,
    async startAuthorization({ redirectUri, state }) {
      const kept = newCodeVerifier();
      return { location: service.authorizeUrl({ redirectUri, state, codeChallenge: codeChallengeOf(kept) }), kept };
    },
    async redeem({ code, redirectUri, kept }) {
      const answer = await service.exchangeCode({ code, redirectUri, codeVerifier: kept });
      const { lifeMs, ...tokens } = readTokenResponse(answer, settings.expiresUnit);
      return { tokens, lifeMs, profile: async () => read(await service.profile(tokens.accessToken)) };
    },
    async renew({ refreshToken = '' }) {
      const answer = await service.refresh(refreshToken);
      try {
        return { kind: 'renewed', tokens: readTokenResponse(answer, settings.expiresUnit) };
      } catch {
        return { kind: 'refused', refusal: classifyRefusal(answer), status: answer.status };
      }
    },
    async profile({ accessToken }) {
      const answer = await service.profile(accessToken);
      return answer.status === 401 ? 'token-refused' : read(answer);
    },
    logoutUrl: (returnTo) => Promise.resolve(service.logoutUrl(returnTo)),
  };
}

/**
 * Reads a profile with other field names, using the configured map. The client id may be absent; another client's id is
 * refused.
 */
function profileByMap(answer: RawResponse, map: ProfileMap, rules: ProfileRules): Profile {
  const body = profileObject(answer);
  const { client_id: clientId = rules.clientId, id: sub } = body;
  if (clientId !== rules.clientId)
    throw new IdentityError('profile_unfit', 'The profile may not be used: of another client');
  return profileOfClaims({ ...attributesIn(body['attributes']), ...body, sub }, map, rules);
}
