import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readForm, startStandIn, type StandIn } from './sign-in-support.ts';

const RIGHT = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const FOREIGN = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** Faults of the next sign-in; `undefined` means a correct response. */
export interface Mischief {
  claims?: Record<string, unknown>;
  userInfo?: Record<string, unknown>;
  header?: Record<string, unknown>;
  signedBy?: 'foreign' | 'nobody';
  /** Responses to replace, by path. */
  answers?: Record<string, { status?: number; type?: string; body: string; delayMs?: number; location?: string }>;
}

export interface HostileProvider extends StandIn {
  mischief: Mischief;
  calls: string[];
  /** The return address for the location to which the browser was sent: the redirect target of a login page. */
  comeBack(location: string): string;
}

/** A test provider that behaves correctly unless a fault is set. It accepts each code once and checks PKCE. */
export async function startHostileProvider(): Promise<HostileProvider> {
  const asked = new Map<string, URLSearchParams>();
  const server = await startStandIn(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    provider.calls.push(pathname);
    const bent = provider.mischief.answers?.[pathname];
    if (bent) {
      if (bent.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, bent.delayMs).unref());
      const location = bent.location === undefined ? {} : { location: bent.location };
      response.writeHead(bent.status ?? 200, { 'content-type': bent.type ?? 'application/json', ...location });
      return response.end(bent.body);
    }
    response.setHeader('content-type', 'application/json');
    const answer = await ANSWERS[pathname]?.(request);
    return response.writeHead(answer ? 200 : 400).end(JSON.stringify(answer ?? { error: 'invalid_grant' }));
  });
  const ANSWERS: Record<string, (request: Parameters<typeof readForm>[0]) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: server.url,
      authorization_endpoint: `${server.url}/auth`,
      token_endpoint: `${server.url}/token`,
      userinfo_endpoint: `${server.url}/me`,
      jwks_uri: `${server.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
    }),
    '/jwks': () => ({ keys: [{ ...RIGHT.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] }),
    '/me': () => ({ sub: 'li', name: 'Li Lei', ...provider.mischief.userInfo }),
    '/token': async (request) => {
      const form = await readForm(request);
      const query = asked.get(form.get('code') ?? '');
      asked.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (query?.get('code_challenge') !== challenge) return undefined;
      const nowSec = Math.floor(Date.now() / 1_000);
      const claims = { iss: server.url, aud: 'campus-chat', sub: 'li', iat: nowSec, exp: nowSec + 60 };
      const idToken = sign({ ...claims, nonce: query.get('nonce'), ...provider.mischief.claims }, provider.mischief);
      return { access_token: 'upstream-access-token', token_type: 'Bearer', expires_in: 60, id_token: idToken };
    },
  };
  const provider: HostileProvider = {
    ...server,
    mischief: {},
    calls: [],
    comeBack(location) {
      const { searchParams } = new URL(location);
      const code = `code-${asked.size}-${Math.random().toString(36).slice(2)}`;
      asked.set(code, searchParams);
      const answer = new URLSearchParams({ code, state: searchParams.get('state') ?? '', iss: server.url });
      return `${searchParams.get('redirect_uri') ?? ''}?${answer.toString()}`;
    },
  };
  return provider;
}

function sign(claims: object, { header, signedBy }: Mischief): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encode({ alg: signedBy === 'nobody' ? 'none' : 'RS256', kid: 'k1', ...header })}.${encode(claims)}`;
  if (signedBy === 'nobody') return `${text}.`;
  const key: KeyObject = (signedBy === 'foreign' ? FOREIGN : RIGHT).privateKey;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key).toString('base64url')}`;
}
