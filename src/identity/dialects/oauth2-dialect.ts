import { readProfile, type ProfileRules } from '../oauth/profile-response.ts';
import { codeChallengeOf, newCodeVerifier } from '../oauth/pkce.ts';
import { createServiceRequests } from '../oauth/service-requests.ts';
import { classifyRefusal, readTokenResponse } from '../oauth/token-response.ts';
import type { SignInService } from '../options.ts';
import type { SignInDialect } from './dialect.ts';

/** The specification's own sign-in interface: `/oauth2.0/authorize`, `accessToken`, `profile`. */
export function createOauth2Dialect(settings: SignInService, rules: ProfileRules): SignInDialect {
  const service = createServiceRequests(settings);
  return {
    returns: { name: 'code', mostChars: 1_024 },
    checksByRenewal: false,
    returnsOnlySignedOut: false,
    origins: () => [new URL(settings.authUrl).origin],
    prepare: () => Promise.resolve(),
    async leave({ redirectUri, state }) {
      const kept = newCodeVerifier();
      return { location: service.authorizeUrl({ redirectUri, state, codeChallenge: codeChallengeOf(kept) }), kept };
    },
    async redeem({ code, redirectUri, kept }) {
      const answer = await service.exchangeCode({ code, redirectUri, codeVerifier: kept });
      const { lifeMs, ...tokens } = readTokenResponse(answer, settings.expiresUnit);
      return { tokens, lifeMs, profile: async () => readProfile(await service.profile(tokens.accessToken), rules) };
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
      return answer.status === 401 ? 'token-refused' : readProfile(answer, rules);
    },
    logoutUrl: (returnTo) => Promise.resolve(service.logoutUrl(returnTo)),
  };
}
