import type { DialectTools } from './dialect-tools.ts';

type Words = Pick<DialectTools, 'signIn' | 'redirectUri'>;

/** Advice by protocol error texts. The first match applies. */
const ADVICE: readonly (readonly [failure: RegExp, advise: (words: Words) => string])[] = [
  [/INVALID_SERVICE|UNAUTHORIZED_SERVICE|did not return/, register],
  [
    /invalid_client|unauthorized_client/,
    () => 'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET, and allow the authorization code flow at the provider',
  ],
  [/invalid_scope/, () => 'Remove unsupported scopes from SIGN_IN_SCOPE, or allow them for the client'],
  [
    /access_denied|consent_required/,
    () => 'Give consent at the provider, and check that this account may use the application',
  ],
  [
    /CLAIM_COMPARISON|CLAIM_VALUE/,
    () =>
      'The id token names another issuer or client: set SIGN_IN_URL to the exact issuer, and check SIGN_IN_CLIENT_ID',
  ],
  [
    /INVALID_RESPONSE|UNSUPPORTED|KEY_SELECTION/,
    () => 'Configure the provider to sign id tokens with RS256 or ES256 and a key from its jwks_uri',
  ],
  [/too slow|not be reached|did not answer/, () => 'Check that this machine can reach SIGN_IN_URL within 5 s'],
  [/no usable|cannot be read/, () => 'Map that field to another claim in SIGN_IN_PROFILE_MAP_FILE'],
  [
    /identity type/,
    () => 'Sign in with another account, or correct SIGN_IN_IDENTITY_CODES or SIGN_IN_PROFILE_MAP_FILE',
  ],
  [
    /not active/,
    () => 'Sign in with an account that may use Parley, or correct "inactive" in SIGN_IN_PROFILE_MAP_FILE',
  ],
];

export function adviceFor(failure: string, words: Words): string {
  const [, advise] = ADVICE.find(([pattern]) => pattern.test(failure)) ?? [];
  return advise?.(words) ?? 'Contact the operator of the sign-in service';
}

function register({ signIn, redirectUri }: Words): string {
  return signIn.type === 'cas'
    ? `Register ${redirectUri} as a service in CAS, with any query string, which carries the state`
    : `Register the redirect address ${redirectUri} for the client ${signIn.clientId} at the provider`;
}
