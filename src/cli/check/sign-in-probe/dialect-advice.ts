import type { DialectTools } from './dialect-tools.ts';

type Words = Pick<DialectTools, 'signIn' | 'redirectUri'>;

/** What to do about a failure, by the protocol's own words in it; the first that fits. */
const ADVICE: readonly (readonly [failure: RegExp, advise: (words: Words) => string])[] = [
  [/INVALID_SERVICE|UNAUTHORIZED_SERVICE|did not come back/, register],
  [
    /invalid_client|unauthorized_client/,
    () =>
      'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET, as the provider gave them, and allow the code flow there',
  ],
  [/invalid_scope/, () => 'Take out of SIGN_IN_SCOPE what the provider does not know, or allow it for the client'],
  [/access_denied|consent_required/, () => 'Agree there, and see that this account may use the application'],
  [
    /CLAIM_COMPARISON|CLAIM_VALUE/,
    () =>
      'Its id token is of another issuer or client: see that SIGN_IN_URL is the issuer letter by letter, and SIGN_IN_CLIENT_ID',
  ],
  [
    /INVALID_RESPONSE|UNSUPPORTED|KEY_SELECTION/,
    () => 'Let the provider sign id tokens with RS256 or ES256, by a key that its jwks_uri shows',
  ],
  [/too slow|not be reached|did not answer/, () => 'See that this machine reaches SIGN_IN_URL within 5 s'],
  [/no usable|cannot be read/, () => 'Map that part to another claim in SIGN_IN_PROFILE_MAP_FILE'],
  [/identity type/, () => 'Sign in with another account, or correct SIGN_IN_IDENTITY_CODES or the map of claims'],
  [/not active/, () => 'Sign in with an account that may use Parley, or correct "inactive" in the map of claims'],
];

export function adviceFor(failure: string, words: Words): string {
  const [, advise] = ADVICE.find(([pattern]) => pattern.test(failure)) ?? [];
  return advise?.(words) ?? 'Ask who runs the sign-in service';
}

function register({ signIn, redirectUri }: Words): string {
  return signIn.type === 'cas'
    ? `Register ${redirectUri} there as a service, with any query: the state travels in it`
    : `Register the redirect address ${redirectUri} for the client ${signIn.clientId}`;
}
