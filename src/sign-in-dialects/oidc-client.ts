import * as oidc from 'openid-client';
import { HOUR_MS, KIB_BYTES } from '../base/clock.ts';
import { definedOnly } from '../base/defined-only.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Claims } from './person-from-claims.ts';
import { asProviderError, isAboutKeys, refusalOf, type Refusal } from './oidc-errors.ts';
import { ProviderError } from './provider-error.ts';

export interface OidcClientOptions {
  /** As the provider writes it, letter by letter: a slash at the end matters. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Space-separated, `openid` among them. */
  scope: string;
  /** What it says of itself, where that is known beforehand; else it is asked (discovery). */
  server?: oidc.ServerMetadata;
  /** Whether a code is bound by PKCE as well as by the nonce; yes unless told. */
  usesPkce?: boolean;
  /** Asks in the provider's own way; plain unless told. */
  fetch?: typeof boundedFetch;
}

interface Leaving {
  callbackUrl: string;
  state: string;
  /** The provider takes no session of whoever was there before. */
  isAnew?: boolean;
  /** Parameters of this provider alone. */
  more?: Readonly<Record<string, string | undefined>>;
}

/** What a code or a refresh token yields; every id token in it was checked. */
export interface OidcGrant {
  accessToken: string;
  refreshToken?: string;
  /** As it came. */
  expiresIn: unknown;
  /** Of the id token; a refresh may bring none. */
  claims: Claims | undefined;
}

/** Of each call to the provider, its body included (SECURITY.md code-used-once). */
const CALL_TIMEOUT_SEC = 5;
/** How far the provider's clock may be off. */
const CLOCK_LEEWAY_SEC = 30;
const DISCOVERED_LIFE_MS = HOUR_MS;
const MAX_TOKEN_BYTES = 8 * KIB_BYTES;

/** What is kept between departure and return. */
interface Kept {
  verifier?: string;
  nonce: string;
}

/**
 * OpenID Connect's code flow with PKCE, state and nonce. The id token's signature is checked too, although it comes from the
 * token address itself: a proxy in between must not be able to name people (SECURITY.md checked-id-tokens).
 */
export class OidcClient {
  readonly #options: OidcClientOptions;
  #known: { configuration: oidc.Configuration; atMs: number } | undefined;
  #discovering: Promise<oidc.Configuration> | undefined;

  constructor(options: OidcClientOptions) {
    this.#options = options;
  }

  /** What the provider says of itself, where it was heard before; never asks. */
  get metadata(): oidc.ServerMetadata | undefined {
    return this.#known?.configuration.serverMetadata();
  }

  /** Asks what the provider says of itself, unless it is known. @throws ProviderError `failed`, `timeout`, `unreachable` */
  async discover(): Promise<oidc.ServerMetadata> {
    return (await this.#discovered()).serverMetadata();
  }

  /** @throws ProviderError `failed`, `timeout`, `unreachable` */
  async leave({ callbackUrl, state, isAnew = false, more = {} }: Leaving) {
    const configuration = await this.#discovered();
    const verifier = this.#options.usesPkce === false ? undefined : oidc.randomPKCECodeVerifier();
    const kept: Kept = { verifier, nonce: oidc.randomNonce() };
    const asked = definedOnly({
      ...more,
      redirect_uri: callbackUrl,
      scope: this.#options.scope,
      state,
      nonce: kept.nonce,
      code_challenge: verifier && (await oidc.calculatePKCECodeChallenge(verifier)),
      code_challenge_method: verifier && 'S256',
      prompt: isAnew ? 'login' : undefined,
    });
    const address = oidc.buildAuthorizationUrl(configuration, asked);
    return { location: address.href, kept: JSON.stringify(kept) };
  }

  /** Exchanges the code of a return, once. @throws ProviderError */
  async redeem(back: { callbackUrl: string; state: string; query: URLSearchParams; kept: string }) {
    const { verifier, nonce } = readKept(back.kept);
    const configuration = await this.#discovered();
    try {
      const address = new URL(`${back.callbackUrl}?${back.query.toString()}`);
      const tokens = await oidc.authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: verifier,
        expectedState: back.state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      return { ...grantOf(tokens), claims: tokens.claims() as oidc.IDToken };
    } catch (thrown) {
      throw this.#judge(thrown);
    }
  }

  /**
   * Renews tokens. A refusal in the protocol's words is returned for the caller to weigh.
   * @throws ProviderError
   */
  async refresh(refreshToken: string): Promise<OidcGrant | { refusal: Refusal }> {
    const configuration = await this.#discovered();
    try {
      return grantOf(await oidc.refreshTokenGrant(configuration, refreshToken));
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      if (refusal) return { refusal };
      throw this.#judge(thrown);
    }
  }

  /** What the provider's user address adds, of this subject alone; nothing where it has none. @throws ProviderError */
  async userInfo(accessToken: string, subject: string): Promise<Claims> {
    const configuration = await this.#discovered();
    if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
    try {
      return await oidc.fetchUserInfo(configuration, accessToken, subject);
    } catch (thrown) {
      throw this.#judge(thrown);
    }
  }

  /** Where a browser signs out at the provider; undefined where it has no such address. @throws ProviderError */
  async logoutUrl(returnTo: string): Promise<string | undefined> {
    const configuration = await this.#discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    // Without `id_token_hint`: the address is shown in a chat, where no token belongs (SECURITY.md secrets-stay-inside).
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
  }

  /** Keys that do not fit may have been changed: the next call asks for all anew, so that one new start mends it. */
  #judge(thrown: unknown): ProviderError {
    if (isAboutKeys(thrown)) this.#known = undefined;
    return asProviderError(thrown);
  }

  /** Found out at the first sign-in, not at the start, so that we start while the provider is away. */
  async #discovered(): Promise<oidc.Configuration> {
    const nowMs = performance.now();
    if (this.#known && nowMs - this.#known.atMs < DISCOVERED_LIFE_MS) return this.#known.configuration;
    // All who come meanwhile wait for one answer.
    this.#discovering ??= this.#ask().finally(() => (this.#discovering = undefined));
    try {
      return await this.#discovering;
    } catch (thrown) {
      // What was heard an hour ago is better than nobody's sign-in.
      if (this.#known) return this.#known.configuration;
      throw asProviderError(thrown);
    }
  }

  async #ask(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, server, fetch = boundedFetch } = this.#options;
    const address = new URL(issuer);
    const client = { [oidc.clockTolerance]: CLOCK_LEEWAY_SEC };
    const authenticate = authenticateBy(clientSecret);
    const execute = [
      oidc.enableNonRepudiationChecks,
      // The settings allow plain http on this machine only.
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked only to stand out
      ...(address.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
    ];
    const asking = { [oidc.customFetch]: fetch, timeout: CALL_TIMEOUT_SEC };
    const configuration = server
      ? Object.assign(new oidc.Configuration(server, clientId, client, authenticate), asking)
      : await oidc.discovery(address, clientId, client, authenticate, { ...asking, execute });
    if (server) for (const prepare of execute) prepare(configuration);
    this.#known = { configuration, atMs: performance.now() };
    return configuration;
  }
}

/** @throws ProviderError `failed` when a token is of no sensible length */
function grantOf(tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): OidcGrant {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = tokens;
  for (const token of [accessToken, refreshToken ?? ''])
    if (Buffer.byteLength(token) > MAX_TOKEN_BYTES)
      throw new ProviderError('failed', 'The OIDC provider gave a token of more than 8 KiB');
  const grant: OidcGrant = { accessToken, expiresIn, claims: tokens.claims() };
  return refreshToken === undefined || refreshToken === '' ? grant : { ...grant, refreshToken };
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

/** What another dialect kept, before the deployment changed to this one, is none of ours. @throws ProviderError `lost` */
function readKept(text: string): Kept {
  try {
    return JSON.parse(text) as Kept;
  } catch {
    // The error is not passed on: its message quotes the verifier.
    throw new ProviderError('lost', 'What was kept at the departure is of another dialect');
  }
}
