import * as oidc from 'openid-client';
import { HOUR_MS, KIB_BYTES, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { definedOnly } from '../defined-only.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { clientAuthParts, offeredMethod, type ClientAuthMethod } from './client-auth.ts';
import { readJsonObject } from './json-answer.ts';
import type { Claims } from './person-from-claims.ts';
import { asProviderError, refusalOf, type Refusal } from './oidc-errors.ts';
import { discoveryAddress, readMetadata } from './provider-metadata.ts';
import { ProviderError } from './provider-error.ts';
import { isSignedByOne, readToken, signingAlgorithms, type UncheckedToken } from './signing-keys.ts';
import { tidyTokenAnswer } from './tidy-token-answer.ts';
import { isToken, readUserInfo } from './user-info.ts';

export interface OidcClientOptions {
  /** As the provider writes it; a slash at the end makes no difference. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Space-separated, `openid` among them. */
  scope: string;
  /** How the secret is shown; by what the provider offers where this is absent. */
  clientAuth?: ClientAuthMethod;
  /** What it says of itself, where that is known beforehand; else it is asked (discovery). */
  server?: oidc.ServerMetadata;
  /** Whether a code is bound by PKCE as well as by the nonce. Defaults to true. */
  usesPkce?: boolean;
  /** Asks in the provider's own way. Defaults to a plain request. */
  fetch?: typeof boundedFetch;
}

interface Leaving {
  callbackUrl: string;
  state: string;
  /** The provider ignores the session of the previous person. */
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
/** How long a key that the provider has withdrawn may still count. */
const KEYS_LIFE_MS = 5 * MINUTE_MS;
/** Tokens with many groups have some 16 KiB. */
const MAX_TOKEN_BYTES = 32 * KIB_BYTES;

/** What is kept between departure and return. */
interface Kept {
  verifier?: string;
  nonce: string;
}

/** A provider that answered, and how its signatures are checked. */
interface KnownProvider {
  configuration: oidc.Configuration;
  /** The shared secret, where the provider signs by it. */
  secret: string | undefined;
  /** Its published keys, as they came, once they were needed. */
  keys?: { all: readonly unknown[]; atMs: number };
  atMs: number;
}

/**
 * OpenID Connect's code flow with PKCE, state and nonce. The id token's signature is checked too, although it comes from the
 * token address itself: a proxy in between must not be able to name people (SECURITY.md checked-id-tokens).
 */
export class OidcClient {
  readonly #options: OidcClientOptions;
  #known: KnownProvider | undefined;
  #discovering: Promise<KnownProvider> | undefined;

  constructor(options: OidcClientOptions) {
    this.#options = options;
  }

  /** What the provider says of itself, where it was heard before; never asks. */
  get metadata(): oidc.ServerMetadata | undefined {
    return this.#known?.configuration.serverMetadata();
  }

  /** Asks what the provider says of itself, unless it is known. @throws ProviderError `failed`, `timeout`, `unreachable` */
  async discover(): Promise<oidc.ServerMetadata> {
    return (await this.#discovered()).configuration.serverMetadata();
  }

  /** @throws ProviderError `failed`, `timeout`, `unreachable` */
  async leave({ callbackUrl, state, isAnew = false, more = {} }: Leaving) {
    const { configuration } = await this.#discovered();
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
    const provider = await this.#discovered();
    try {
      const address = new URL(`${back.callbackUrl}?${back.query.toString()}`);
      const tokens = await oidc.authorizationCodeGrant(provider.configuration, address, {
        pkceCodeVerifier: verifier,
        expectedState: back.state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      await this.#checkIdToken(provider, tokens);
      return { ...grantOf(tokens), claims: tokens.claims() as oidc.IDToken };
    } catch (thrown) {
      throw asProviderError(thrown);
    }
  }

  /**
   * Renews tokens. A refusal in the protocol's words is returned for the caller to weigh.
   * @throws ProviderError
   */
  async refresh(refreshToken: string): Promise<OidcGrant | { refusal: Refusal }> {
    const provider = await this.#discovered();
    try {
      const tokens = await oidc.refreshTokenGrant(provider.configuration, refreshToken);
      await this.#checkIdToken(provider, tokens);
      return grantOf(tokens);
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      if (refusal) return { refusal };
      throw asProviderError(thrown);
    }
  }

  /** What the provider's user address adds, of this subject alone; nothing where it has none. @throws ProviderError */
  async userInfo(accessToken: string, subject: string): Promise<Claims> {
    const provider = await this.#discovered();
    const { userinfo_endpoint: address, issuer } = provider.configuration.serverMetadata();
    if (address === undefined) return {};
    const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json, application/jwt' };
    const { status, body } = await this.#get(address, headers);
    if (status !== 200) throw new ProviderError('failed', `The OIDC user address answered HTTP ${status}`);
    const token = isToken(body) ? readToken(body) : undefined;
    if (token) await this.#checkSignature(provider, token);
    const { clientId } = this.#options;
    const claims = token ? token.claims : readJsonObject(body);
    return readUserInfo(claims, { subject, signed: token && { issuer, clientId } });
  }

  /** Where a browser signs out at the provider; undefined where it has no such address. @throws ProviderError */
  async logoutUrl(returnTo: string): Promise<string | undefined> {
    const { configuration } = await this.#discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    // Without `id_token_hint`: the address is shown in a chat, where no token belongs (SECURITY.md secrets-stay-inside).
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
  }

  async #checkIdToken(provider: KnownProvider, { id_token: idToken }: { id_token?: string }): Promise<void> {
    if (idToken !== undefined) await this.#checkSignature(provider, readToken(idToken));
  }

  /** The keys may have changed since they were read: a signature that fits none of them is checked by new ones once. */
  async #checkSignature(provider: KnownProvider, token: UncheckedToken): Promise<void> {
    const { secret, keys } = provider;
    const isFresh = keys !== undefined && performance.now() - keys.atMs < KEYS_LIFE_MS;
    if (isFresh && isSignedByOne(token, { keys: keys.all, secret })) return;
    if (!isSignedByOne(token, { keys: secret === undefined ? await this.#readKeys(provider) : [], secret }))
      throw new ProviderError('failed', 'A token of the OIDC provider is signed by none of its published keys');
  }

  async #readKeys(provider: KnownProvider): Promise<readonly unknown[]> {
    const { status, body } = await this.#get(provider.configuration.serverMetadata().jwks_uri ?? '');
    const all: unknown = readJsonObject(body)?.['keys'];
    if (status !== 200 || !Array.isArray(all))
      throw new ProviderError('failed', `The keys of the OIDC provider cannot be read (HTTP ${status})`);
    provider.keys = { all: all as unknown[], atMs: performance.now() };
    return provider.keys.all;
  }

  /** @throws ProviderError `failed`, `timeout`, `unreachable` */
  async #get(address: string, headers: Record<string, string> = { accept: 'application/json' }) {
    const { issuer, fetch = boundedFetch } = this.#options;
    if (!address.startsWith('https:') && new URL(issuer).protocol === 'https:')
      throw new ProviderError('failed', 'The OIDC provider names an address without https');
    try {
      const signal = AbortSignal.timeout(CALL_TIMEOUT_SEC * SECOND_MS);
      const response = await fetch(address, { headers, signal });
      return { status: response.status, body: await response.text() };
    } catch (thrown) {
      throw asProviderError(thrown);
    }
  }

  /** Found out at the first sign-in, not at the start, so that Parley starts while the provider is away. */
  async #discovered(): Promise<KnownProvider> {
    const nowMs = performance.now();
    if (this.#known && nowMs - this.#known.atMs < DISCOVERED_LIFE_MS) return this.#known;
    // All callers wait for one answer.
    this.#discovering ??= this.#ask().finally(() => (this.#discovering = undefined));
    try {
      return await this.#discovering;
    } catch (thrown) {
      // An answer of an hour ago is better than no sign-in.
      if (this.#known) return this.#known;
      throw asProviderError(thrown);
    }
  }

  async #ask(): Promise<KnownProvider> {
    const { issuer, clientId, clientSecret, fetch = boundedFetch } = this.#options;
    const server = this.#options.server ?? readMetadata(issuer, await this.#get(discoveryAddress(issuer)));
    const { algorithms, secret } = signingAlgorithms(server.id_token_signing_alg_values_supported, clientSecret);
    // Which of them are listed proves nothing: a signature counts by the keys.
    const metadata = { ...server, id_token_signing_alg_values_supported: [...algorithms] };
    const client = { [oidc.clockTolerance]: CLOCK_LEEWAY_SEC };
    const configuration = new oidc.Configuration(metadata, clientId, client, this.#authenticate());
    const inStandardWords: typeof boundedFetch = async (url, options) => {
      const response = await fetch(url, options);
      return options.method === 'POST' ? tidyTokenAnswer(response) : response;
    };
    Object.assign(configuration, { [oidc.customFetch]: inStandardWords, timeout: CALL_TIMEOUT_SEC });
    // The settings allow plain http on this machine only.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked only to stand out
    if (new URL(issuer).protocol === 'http:') oidc.allowInsecureRequests(configuration);
    this.#known = { configuration, secret, atMs: performance.now() };
    return this.#known;
  }

  #authenticate(): oidc.ClientAuth {
    const { clientId, clientSecret, clientAuth } = this.#options;
    return ({ token_endpoint_auth_methods_supported: offered }, _client, body, headers) => {
      const parts = clientAuthParts(clientAuth ?? offeredMethod(offered), { clientId, clientSecret });
      for (const [name, value] of Object.entries(parts.form)) body.set(name, value);
      for (const [name, value] of Object.entries(parts.headers)) headers.set(name, value);
    };
  }
}

/** @throws ProviderError `failed` when a token is of no sensible length */
function grantOf(tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): OidcGrant {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = tokens;
  for (const token of [accessToken, refreshToken ?? ''])
    if (Buffer.byteLength(token) > MAX_TOKEN_BYTES)
      throw new ProviderError('failed', 'The OIDC provider gave a token of more than 32 KiB');
  const grant: OidcGrant = { accessToken, expiresIn, claims: tokens.claims() };
  return refreshToken === undefined || refreshToken === '' ? grant : { ...grant, refreshToken };
}

/** What another dialect kept before the deployment changed to this one is unusable. @throws ProviderError `lost` */
function readKept(text: string): Kept {
  try {
    return JSON.parse(text) as Kept;
  } catch {
    // The error is not passed on: its message quotes the verifier.
    throw new ProviderError('lost', 'What was kept at the departure is of another dialect');
  }
}
