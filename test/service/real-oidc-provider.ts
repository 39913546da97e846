import { jest } from '@jest/globals';
import type { Configuration } from 'oidc-provider';
import { startStandIn, type StandIn } from './sign-in-support.ts';

export const OIDC_CLIENT = { clientId: 'campus-chat', clientSecret: 'oidc-client-secret' };

export interface RealProvider extends StandIn {
  /** The person who signs in next, with all claims; `sub` is the account. */
  person: Record<string, unknown> & { sub: string };
  /** Whether the person declines. */
  declines: boolean;
  /** The received authorize requests. */
  asked: URLSearchParams[];
  /** Registers the client and starts to serve. */
  open(callbackUrl: string, authMethod: AuthMethod): void;
}

export type AuthMethod = 'client_secret_basic' | 'client_secret_post';

/** A third-party provider (the `oidc-provider` package), whose login page signs the person in immediately. */
export async function startRealProvider(): Promise<RealProvider> {
  let handle: Parameters<typeof startStandIn>[0] = (_, response) => response.writeHead(503).end();
  // The package warns about in-memory storage and about the Node version. Both are fine in tests.
  const quiet = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { Provider } = await import('oidc-provider');
  const server = await startStandIn((request, response) => handle(request, response));
  const running: RealProvider = { ...server, person: { sub: 'nobody' }, declines: false, asked: [], open };
  return running;

  function open(callbackUrl: string, authMethod: AuthMethod): void {
    const configuration: Configuration = {
      clients: [
        {
          client_id: OIDC_CLIENT.clientId,
          client_secret: OIDC_CLIENT.clientSecret,
          redirect_uris: [callbackUrl],
          token_endpoint_auth_method: authMethod,
        },
      ],
      clientAuthMethods: [authMethod],
      scopes: ['openid', 'profile'],
      claims: { openid: ['sub'], profile: ['name', 'dept', 'kind', 'active'] },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      cookies: { keys: ['only-in-this-test'] },
      findAccount: (_, sub) => ({ accountId: sub, claims: () => Promise.resolve({ ...running.person, sub }) }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      async loadExistingGrant({ oidc }) {
        const accountId = oidc.session?.accountId;
        const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId ?? '', accountId: accountId ?? '' });
        grant.addOIDCScope('openid profile');
        await grant.save();
        return grant;
      },
    };
    const provider = new Provider(server.url, configuration);
    quiet.mockRestore();
    const answer = provider.callback();
    handle = async (request, response) => {
      const url = new URL(request.url ?? '/', server.url);
      if (url.pathname === '/auth') running.asked.push(url.searchParams);
      if (!url.pathname.startsWith('/interaction/')) return answer(request, response);
      const { declines, person } = running;
      const result = declines ? { error: 'access_denied' } : { login: { accountId: person.sub } };
      return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    };
  }
}
