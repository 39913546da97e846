import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { jest } from '@jest/globals';
import type { Configuration, Provider } from 'oidc-provider';
import { readForm, startStandIn } from '../../../service/sign-in-support.ts';
import { showLoginForm } from './login-form.ts';

export type Algorithm = 'RS256' | 'ES256';

export interface StrictProvider {
  url: string;
  clientId: string;
  clientSecret: string;
  returns: 'code';
  /** The authorize requests so far; `codes` stays empty, because the provider does not expose them. */
  seen: { authorize: URLSearchParams[]; codes: string[] };
  /** Claims in addition to the name. */
  claims: Record<string, unknown>;
  /** Deleted accounts. */
  gone: Set<string>;
  mintCode(): string;
  /** Registers the client and starts to answer, each time with new keys. */
  open(publicUrl: string, algorithm: Algorithm): void;
  close(): Promise<void>;
}

/**
 * The `oidc-provider` package in strict mode: PKCE is required and refresh tokens are single-use. Its login page accepts the
 * account of the browser's `x-account` header, and asks other browsers for a name.
 */
export async function startStrictProvider(): Promise<StrictProvider> {
  let handle = (_request: IncomingMessage, response: ServerResponse): unknown => response.writeHead(503).end();
  // The package warns about its in-memory storage and about the Node version; both are fine in tests.
  const quiet = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { Provider } = await import('oidc-provider');
  quiet.mockRestore();
  const server = await startStandIn((request, response) => handle(request, response));
  let keys = 0;
  const running: StrictProvider = {
    ...server,
    ...{ clientId: 'parley', clientSecret: 'secret-of-parley-strict', returns: 'code' },
    seen: { authorize: [], codes: [] },
    claims: { dept: 'Library' },
    gone: new Set(),
    mintCode: () => 'of-nobody',
    open,
  };
  return running;

  function open(publicUrl: string, algorithm: Algorithm): void {
    const callback = `${publicUrl}/oauth/callback`;
    const configuration: Configuration = {
      clients: [
        {
          client_id: running.clientId,
          client_secret: running.clientSecret,
          redirect_uris: [callback],
          post_logout_redirect_uris: [callback],
          grant_types: ['authorization_code', 'refresh_token'],
          id_token_signed_response_alg: algorithm,
        },
      ],
      jwks: { keys: [newKey(algorithm, (keys += 1))] },
      scopes: ['openid', 'profile'],
      claims: { openid: ['sub'], profile: ['name', 'dept', 'active'] },
      ttl: {
        AccessToken: 60,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 60,
        Interaction: 60,
        Session: 60,
        RefreshToken: 600,
      },
      pkce: { required: () => true },
      issueRefreshToken: () => Promise.resolve(true),
      rotateRefreshToken: true,
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          logoutSource: (context, form) =>
            void (context.body = form.replace('</form>', '<input type="hidden" name="logout" value="yes"/></form>')),
        },
      },
      cookies: { keys: ['only-in-this-test'] },
      findAccount: (_, sub) =>
        running.gone.has(sub)
          ? undefined
          : { accountId: sub, claims: () => Promise.resolve({ name: `Person ${sub}`, ...running.claims, sub }) },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid profile');
        await grant.save();
        return grant;
      },
    };
    const again = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const provider = new Provider(server.url, configuration);
    again.mockRestore();
    const answer = provider.callback();
    handle = (request, response) => {
      const url = new URL(request.url ?? '/', server.url);
      if (url.pathname === '/auth') running.seen.authorize.push(url.searchParams);
      if (!url.pathname.startsWith('/interaction/')) return answer(request, response);
      return logIn(provider, request, response);
    };
  }
}

async function logIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = request.headers['x-account'];
  if (given === undefined && request.method !== 'POST') return showLoginForm(response);
  const accountId = given === undefined ? (await readForm(request)).get('username') : String(given);
  const result = { login: { accountId: accountId ?? 'nobody' } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

function newKey(alg: Algorithm, count: number) {
  const pair =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...pair.privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: `key-${count}` } as never;
}
