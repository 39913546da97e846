import { definedOnly } from '../../../base/defined-only.ts';
import * as oidc from 'openid-client';
import type { ProfileMap } from '../../profile-map-file.ts';
import { PageError } from '../sign-in-errors.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { personFromClaims } from './person-from-claims.ts';
import type { Arrival, Departure, InstitutionSignIn, Leaving } from './redirect-sign-in.ts';

export interface OidcOptions {
  /** As the provider writes it, letter by letter: a slash at the end matters. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Space-separated, `openid` among them. */
  scope: string;
  profileMap: ProfileMap;
}

/** Of each call to the provider, its body included (SECURITY.md code-used-once). */
const CALL_TIMEOUT_SEC = 5;

/** What is kept between departure and return. */
interface Kept {
  verifier: string;
  nonce: string;
}

/**
 * OpenID Connect's code flow with PKCE, state and nonce. The ID token's signature is checked too, although it comes from the
 * token address itself: a proxy in between must not be able to name people.
 */
export class OidcSignIn implements InstitutionSignIn {
  readonly name = 'oidc';
  readonly origin: string;
  readonly #options: OidcOptions;
  #configuration: Promise<oidc.Configuration> | undefined;

  constructor(options: OidcOptions) {
    this.#options = options;
    this.origin = `oidc ${options.issuer}`;
  }

  async leave({ callbackUrl, state, isAnew }: Leaving): Promise<Departure> {
    const configuration = await this.#discovered();
    const kept: Kept = { verifier: oidc.randomPKCECodeVerifier(), nonce: oidc.randomNonce() };
    const asked = definedOnly({
      redirect_uri: callbackUrl,
      scope: this.#options.scope,
      state,
      nonce: kept.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(kept.verifier),
      code_challenge_method: 'S256',
      prompt: isAnew ? 'login' : undefined,
    });
    const address = oidc.buildAuthorizationUrl(configuration, asked);
    return { location: address.href, kept: JSON.stringify(kept) };
  }

  async identify({ callbackUrl, state, query, kept }: Arrival) {
    const { verifier, nonce } = JSON.parse(kept ?? '{}') as Kept;
    const configuration = await this.#discovered();
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${callbackUrl}?${query.toString()}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as oidc.IDToken;
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
      const more = hasUserInfo ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub) : {};
      return { person: personFromClaims(this.#options.profileMap, { ...claims, ...more }) };
    } catch (thrown) {
      throw asPageError(thrown);
    }
  }

  /** Found out at the first sign-in, not at the start, so that the service starts while the provider is away. */
  async #discovered(): Promise<oidc.Configuration> {
    this.#configuration ??= this.#discover();
    try {
      return await this.#configuration;
    } catch (thrown) {
      this.#configuration = undefined;
      throw asPageError(thrown);
    }
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const server = new URL(issuer);
    return oidc.discovery(server, clientId, undefined, authenticateBy(clientSecret), {
      [oidc.customFetch]: (url, options) => boundedFetch(url, options),
      timeout: CALL_TIMEOUT_SEC,
      execute: [
        oidc.enableNonRepudiationChecks,
        // The settings allow plain http on this machine only.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked only to stand out
        ...(server.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    });
  }
}

/** HTTP Basic unless the provider says that it takes the secret in the form only (OpenID Connect Discovery section 3). */
function authenticateBy(secret: string): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = supported.includes('client_secret_basic') ? basic : post;
    return authenticate(server, client, body, headers);
  };
}

/** The library's errors hold bodies and addresses, so that only their codes go on (SECURITY.md secrets-stay-inside). */
function asPageError(thrown: unknown): PageError {
  if (thrown instanceof PageError) return thrown;
  if (thrown instanceof oidc.AuthorizationResponseError) {
    return thrown.error === 'access_denied'
      ? new PageError('sign_in_declined', 'The OIDC provider says that the person did not agree')
      : new PageError('sign_in_failed', `The OIDC provider answered with ${plainCode(thrown.error)}`);
  }
  const code = thrown instanceof oidc.ClientError ? thrown.code : undefined;
  const detail = thrown instanceof oidc.ResponseBodyError ? thrown.error : (code ?? 'no answer');
  return new PageError('sign_in_failed', `OIDC sign-in failed: ${plainCode(detail)}`);
}

/** An error code as the standards write them; anything else is the provider's own text, which stays out of the log. */
function plainCode(code: string): string {
  return /^\w[\w ]{0,63}$/.test(code) ? code : 'an unusual error';
}
