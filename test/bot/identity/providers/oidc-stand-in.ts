import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readForm, startStandIn } from '../../../service/sign-in-support.ts';

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const RSA: Pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const FOREIGN: Pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** Faults in the next responses. */
export interface Mischief {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  signedBy?: 'foreign' | 'nobody';
  userInfo?: Record<string, unknown>;
  discovery?: Record<string, unknown>;
  token?: Record<string, unknown>;
  /** Error code in the redirect to the callback, instead of a code. */
  sendsBack?: string;
  /** Replacement responses by path. */
  answers?: Record<string, { status?: number; body: string; type?: string }>;
  /** Signs id tokens with another algorithm. */
  sign?: { alg: string; by(text: string): Buffer };
  /** Whether a token request authenticates the client correctly. */
  takesClient?: (authorization: string, form: URLSearchParams) => boolean;
}

export interface OidcStandIn {
  url: string;
  clientId: string;
  clientSecret: string;
  returns: 'code';
  /** Faults during sign-ins. */
  mischief: Mischief;
  /** Faults during refreshes. */
  refreshMischief: Mischief;
  ignoresPkce: boolean;
  seen: { authorize: URLSearchParams[]; codes: string[]; refreshes: string[]; calls: string[] };
  mintCode(account: string, challenge?: string, nonce?: string): string;
  close(): Promise<void>;
}

interface Grant {
  account: string;
  challenge?: string | undefined;
  nonce?: string | undefined;
}

/**
 * An OpenID Connect provider that signs in the account of the browser's `x-account` header and behaves correctly except for
 * the configured faults. Its paths end like those of the OAuth 2.0 stand-in, so that the attacks match them.
 */
export async function startOidcStandIn(): Promise<OidcStandIn> {
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, string>();
  const server = await startStandIn(async (request, response) => {
    const url = new URL(request.url ?? '/', server.url);
    stand.seen.calls.push(url.pathname);
    const bent = stand.mischief.answers?.[url.pathname];
    if (bent)
      return response.writeHead(bent.status ?? 200, { 'content-type': bent.type ?? 'application/json' }).end(bent.body);
    if (url.pathname === '/oauth2.0/authorize') {
      const query = url.searchParams;
      stand.seen.authorize.push(query);
      const target = query.get('redirect_uri') ?? '';
      if (stand.mischief.sendsBack !== undefined)
        return response.writeHead(302, { location: `${target}?error=${stand.mischief.sendsBack}` }).end();
      const account = String(request.headers['x-account'] ?? '20001');
      const code = stand.mintCode(account, query.get('code_challenge') ?? undefined, query.get('nonce') ?? undefined);
      const issuer = (stand.mischief.discovery?.['issuer'] as string | undefined) ?? server.url;
      const back = new URLSearchParams({ code, state: query.get('state') ?? '', iss: issuer });
      return response.writeHead(302, { location: `${target}?${back.toString()}` }).end();
    }
    const answer = await answers[url.pathname]?.(request);
    response.writeHead(answer ? 200 : 400, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(answer ?? { error: 'invalid_grant' }));
  });
  const answers: Record<string, (request: IncomingMessage) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth2.0/authorize`,
      token_endpoint: `${server.url}/token`,
      userinfo_endpoint: `${server.url}/me`,
      end_session_endpoint: `${server.url}/end`,
      jwks_uri: `${server.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'profile'],
      authorization_response_iss_parameter_supported: true,
      ...stand.mischief.discovery,
    }),
    '/jwks': keySet,
    '/me': (request) => {
      const account = accessTokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
      return account && { sub: account, name: `Person ${account}`, ...stand.mischief.userInfo };
    },
    '/token': async (request) => {
      const form = await readForm(request);
      const { takesClient = () => true } = stand.mischief;
      if (!takesClient(request.headers.authorization ?? '', form)) return { error: 'invalid_client' };
      if (form.get('grant_type') === 'refresh_token') {
        const token = form.get('refresh_token') ?? '';
        stand.seen.refreshes.push(token);
        const account = refreshTokens.get(token);
        refreshTokens.delete(token);
        return account === undefined ? undefined : tokensFor({ account }, stand.refreshMischief);
      }
      const code = form.get('code') ?? '';
      stand.seen.codes.push(code);
      const grant = codes.get(code);
      codes.delete(code);
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      return grant && (stand.ignoresPkce || grant.challenge === challenge)
        ? tokensFor(grant, stand.mischief)
        : undefined;
    },
  };
  const tokensFor = ({ account, nonce }: Grant, mischief: Mischief) => {
    const nowSec = Math.floor(Date.now() / 1_000);
    const claims = { iss: server.url, aud: stand.clientId, sub: account, iat: nowSec, exp: nowSec + 300 };
    const [access, refresh] = [`AT:${random()}`, `RT:${random()}`];
    const { sub } = { ...claims, ...mischief.claims };
    accessTokens.set(access, sub);
    refreshTokens.set(refresh, account);
    const id = signIdToken({ ...claims, ...(nonce === undefined ? {} : { nonce }), ...mischief.claims }, mischief);
    const tokens = {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 300,
      refresh_token: refresh,
      id_token: id,
    };
    return { ...tokens, ...mischief.token };
  };
  const stand: OidcStandIn = {
    ...server,
    ...{ clientId: 'parley', clientSecret: 'secret-of-parley-oidc', returns: 'code' },
    mischief: {},
    refreshMischief: {},
    ignoresPkce: false,
    seen: { authorize: [], codes: [], refreshes: [], calls: [] },
    mintCode(account, challenge, nonce) {
      const code = `OC-${random()}`;
      codes.set(code, { account, challenge, nonce });
      return code;
    },
  };
  return stand;
}

function random(): string {
  return randomBytes(12).toString('hex');
}

/** The key set with the valid signing key. */
export function keySet(): object {
  return { keys: [{ ...RSA.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] };
}

/** An id token, valid except for the configured faults. */
export function signIdToken(claims: object, { header, signedBy, sign }: Mischief): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encode({ alg: signedBy === 'nobody' ? 'none' : (sign?.alg ?? 'RS256'), kid: 'k1', ...header })}.${encode(claims)}`;
  if (signedBy === 'nobody') return `${text}.`;
  if (sign) return `${text}.${sign.by(text).toString('base64url')}`;
  const key = (signedBy === 'foreign' ? FOREIGN : RSA).privateKey;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key).toString('base64url')}`;
}
