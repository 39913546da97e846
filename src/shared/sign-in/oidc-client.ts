import * as oidc from 'openid-client';
import { abortAfter } from '../abort-after.ts';
import { HOUR_MS, KIB_BYTES, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { definedOnly } from '../defined-only.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { clientAuthParts, offeredMethod, type ClientAuthMethod } from './client-auth.ts';
import { isError, readJsonObject, unwrapped } from './json-answer.ts';
import type { Claims } from './person-from-claims.ts';
import { asProviderError, refusalOf, type Refusal } from './oidc-errors.ts';
import { discoveryAddress, readMetadata } from './provider-metadata.ts';
import { ProviderError } from './provider-error.ts';
import { isSignedByOne, readToken, signingAlgorithms, type UncheckedToken } from './signing-keys.ts';
import { parseJson, type JsonObject } from '../parse-json.ts';

export interface OidcClientOptions {
  /** As the provider writes it; a trailing slash makes no difference. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Space-separated, `openid` among them. */
  scope: string;
  /** Client authentication method. If absent, it depends on the provider's metadata. */
  clientAuth?: ClientAuthMethod;
  /** Provider metadata, if known in advance; otherwise it is discovered. */
  server?: oidc.ServerMetadata;
  /** Whether PKCE is used in addition to the nonce. Defaults to true. */
  usesPkce?: boolean;
  /** Makes requests in a provider-specific way. Defaults to a plain request. */
  fetch?: typeof boundedFetch;
}

interface Leaving {
  callbackUrl: string;
  state: string;
  /** The provider ignores the session of the previous person. */
  forcesLogin?: boolean;
  /** Provider-specific parameters. */
  more?: Readonly<Record<string, string | undefined>>;
}

/** Tokens for a code or a refresh token. Every id token among them was verified. */
export interface OidcGrant {
  accessToken: string;
  refreshToken?: string;
  /** As received. */
  expiresIn: unknown;
  /** From the id token; a refresh may return none. */
  claims: Claims | undefined;
}

/** Limit of each call to the provider, including its body (SECURITY.md code-used-once). */
const CALL_TIMEOUT_SEC = 5;
/** Tolerated clock skew of the provider. */
const CLOCK_LEEWAY_SEC = 30;
const DISCOVERED_LIFE_MS = HOUR_MS;
/** How long a key that the provider has withdrawn may still be accepted. */
const KEYS_LIFE_MS = 5 * MINUTE_MS;
/** Tokens with many groups have about 16 KiB. */
const MAX_TOKEN_BYTES = 32 * KIB_BYTES;

/** State kept between redirect and return. */
interface Kept {
  verifier?: string;
  nonce: string;
}

/** A discovered provider, and the keys to verify its signatures. */
interface KnownProvider {
  configuration: oidc.Configuration;
  /** The shared secret, if the provider signs with it. */
  secret: string | undefined;
  /** Its published keys as received, once they were needed. */
  keys?: { all: readonly unknown[]; atMs: number };
  atMs: number;
}

/**
 * OpenID Connect's code flow with PKCE, state and nonce. The id token's signature is verified too, although it comes
 * directly from the token endpoint: a proxy in between must not be able to impersonate people
 * (SECURITY.md checked-id-tokens).
 */
export class OidcClient {
  readonly #options: OidcClientOptions;
  #known: KnownProvider | undefined;
  #discovering: Promise<KnownProvider> | undefined;

  constructor(options: OidcClientOptions) {
    this.#options = options;
  }

  /** Cached provider metadata; never makes a request. */
  get metadata(): oidc.ServerMetadata | undefined {
    return this.#known?.configuration.serverMetadata();
  }

  /** Discovers the provider's metadata, unless cached. @throws ProviderError `failed`, `timeout`, `unreachable` */
  async discover(): Promise<oidc.ServerMetadata> {
    return (await this.#discovered()).configuration.serverMetadata();
  }

  /** @throws ProviderError `failed`, `timeout`, `unreachable` */
  async startAuthorization({ callbackUrl, state, forcesLogin = false, more = {} }: Leaving) {
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
      prompt: forcesLogin ? 'login' : undefined,
    });
    const address = oidc.buildAuthorizationUrl(configuration, asked);
    return { location: address.href, kept: JSON.stringify(kept) };
  }

  /** Exchanges the code of a return. Each code is used once. @throws ProviderError */
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
   * Refreshes tokens. An OAuth error response is returned for the caller to handle.
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

  /**
   * Further claims of this subject from the provider's userinfo endpoint; none if it has no such endpoint. @throws
   * ProviderError
   */
  async userInfo(accessToken: string, subject: string): Promise<Claims> {
    const provider = await this.#discovered();
    const { userinfo_endpoint: address, issuer } = provider.configuration.serverMetadata();
    if (address === undefined) return {};
    const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json, application/jwt' };
    const { status, body } = await this.#get(address, headers);
    if (status !== 200) throw new ProviderError('failed', `The OIDC userinfo address returned HTTP ${status}`);
    const token = isToken(body) ? readToken(body) : undefined;
    if (token) await this.#checkSignature(provider, token);
    const { clientId } = this.#options;
    const claims = token ? token.claims : readJsonObject(body);
    return readUserInfo(claims, { subject, signed: token && { issuer, clientId } });
  }

  /** The provider's sign-out address; undefined if it has none. @throws ProviderError */
  async logoutUrl(returnTo: string): Promise<string | undefined> {
    const { configuration } = await this.#discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    // Without `id_token_hint`: the address is shown in a chat, where tokens must not appear
    // (SECURITY.md secrets-stay-inside).
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href;
  }

  async #checkIdToken(provider: KnownProvider, { id_token: idToken }: { id_token?: string }): Promise<void> {
    if (idToken !== undefined) await this.#checkSignature(provider, readToken(idToken));
  }

  /**
   * The keys may have been rotated since they were fetched: a signature that matches none of them is verified once more with
   * fresh keys.
   */
  async #checkSignature(provider: KnownProvider, token: UncheckedToken): Promise<void> {
    const { secret, keys } = provider;
    const isFresh = keys !== undefined && performance.now() - keys.atMs < KEYS_LIFE_MS;
    if (isFresh && isSignedByOne(token, { keys: keys.all, secret })) return;
    if (!isSignedByOne(token, { keys: secret === undefined ? await this.#readKeys(provider) : [], secret }))
      throw new ProviderError('failed', 'A token of the OIDC provider is not signed with any of its published keys');
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
      const signal = abortAfter(CALL_TIMEOUT_SEC * SECOND_MS);
      const response = await fetch(address, { headers, signal });
      return { status: response.status, body: await response.text() };
    } catch (thrown) {
      throw asProviderError(thrown);
    }
  }

  /** Discovery happens at the first sign-in instead of at start, so that Parley starts while the provider is down. */
  async #discovered(): Promise<KnownProvider> {
    const nowMs = performance.now();
    if (this.#known && nowMs - this.#known.atMs < DISCOVERED_LIFE_MS) return this.#known;
    // Concurrent callers share one request.
    this.#discovering ??= this.#ask().finally(() => (this.#discovering = undefined));
    try {
      return await this.#discovering;
    } catch (thrown) {
      // A stale response is better than no sign-in.
      if (this.#known) return this.#known;
      throw asProviderError(thrown);
    }
  }

  async #ask(): Promise<KnownProvider> {
    const { issuer, clientId, clientSecret, fetch = boundedFetch } = this.#options;
    const server = this.#options.server ?? readMetadata(issuer, await this.#get(discoveryAddress(issuer)));
    const { algorithms, secret } = signingAlgorithms(server.id_token_signing_alg_values_supported, clientSecret);
    // The listed algorithms prove nothing: a signature is verified with the keys.
    const metadata = { ...server, id_token_signing_alg_values_supported: [...algorithms] };
    const client = { [oidc.clockTolerance]: CLOCK_LEEWAY_SEC };
    const configuration = new oidc.Configuration(metadata, clientId, client, this.#authenticate());
    const inStandardWords: typeof boundedFetch = async (url, options) => {
      const response = await fetch(url, options);
      return options.method === 'POST' ? tidyTokenAnswer(response) : response;
    };
    Object.assign(configuration, { [oidc.customFetch]: inStandardWords, timeout: CALL_TIMEOUT_SEC });
    // The configuration allows plain http on this machine only.
    // oxlint-disable-next-line typescript/no-deprecated -- marked only to stand out
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

/** @throws ProviderError `failed` if a token is empty or too long */
function grantOf(tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): OidcGrant {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = tokens;
  for (const token of [accessToken, refreshToken ?? ''])
    if (Buffer.byteLength(token) > MAX_TOKEN_BYTES)
      throw new ProviderError('failed', 'The OIDC provider returned a token of more than 32 KiB');
  const grant: OidcGrant = { accessToken, expiresIn, claims: tokens.claims() };
  return refreshToken === undefined || refreshToken === '' ? grant : { ...grant, refreshToken };
}

/** State that another dialect stored before the deployment switched to this one is unusable. @throws ProviderError `lost` */
function readKept(text: string): Kept {
  const kept = parseJson(text);
  if (kept === undefined) throw new ProviderError('lost', 'The stored sign-in state belongs to another sign-in type');
  return kept as Kept;
}

/**
 * Normalizes a token response where its meaning is clear: wrapped responses, null members, a scope as a list, non-numeric
 * lifetimes, and errors with status 200 or beside a challenge. Everything else is unchanged.
 */
async function tidyTokenAnswer(response: Response): Promise<Response> {
  const text = await response.text();
  const { status } = response;
  const answer = readJsonObject(text);
  if (!answer) return new Response(text, { status, headers: { 'content-type': 'text/plain' } });
  const inner = unwrapped(answer, 'access_token');
  const error = [answer['error'], inner['error']].find(isError);
  const body = typeof error === 'string' ? { error } : tidy(inner);
  return Response.json(body, { status: error !== undefined && status === 200 ? 400 : status });
}

function tidy(tokens: JsonObject): JsonObject {
  const { expires_in: expiresIn, scope, refresh_token: refreshToken, error, ...others } = tokens;
  const kept = Object.entries({ ...others, error: isError(error) ? error : null }).filter(
    ([, value]) => value !== null,
  );
  return {
    ...Object.fromEntries(kept),
    expires_in: Number(expiresIn) > 0 && Number.isFinite(Number(expiresIn)) ? Number(expiresIn) : undefined,
    scope: Array.isArray(scope) ? scope.join(' ') : typeof scope === 'string' ? scope : undefined,
    refresh_token: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
  };
}

interface UserInfoRules {
  subject: string;
  /** Required issuer and audience of a signed response; absent for plain JSON, which has neither. */
  signed?: { issuer: string; clientId: string };
}

/** Whether the userinfo response is a token (OpenID Connect Core section 5.3.2), regardless of its content type. */
function isToken(body: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*(?:\.[\w-]+){0,2}$/.test(body.trim());
}

/** Claims of a userinfo response, only for this subject. @throws ProviderError `failed`, with the reason */
function readUserInfo(answer: JsonObject | undefined, { subject, signed }: UserInfoRules): Claims {
  if (!answer) throw new ProviderError('failed', 'The OIDC userinfo address answered with neither JSON nor a token');
  const claims = unwrapped(answer, 'sub');
  const { iss, aud } = claims;
  const sub = Number.isSafeInteger(claims['sub']) ? String(claims['sub']) : claims['sub'];
  if (sub !== subject) throw new ProviderError('failed', 'The OIDC userinfo address names another subject');
  if (signed && iss !== undefined && iss !== signed.issuer) throw mismatch('iss');
  if (signed && aud !== undefined && ![aud].flat().includes(signed.clientId)) throw mismatch('aud');
  return { ...claims, sub };
}

function mismatch(claim: string): ProviderError {
  return new ProviderError('failed', `The OIDC userinfo address answered with another "${claim}" than expected`);
}
