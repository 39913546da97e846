import { definedOnly } from '../../../shared/defined-only.ts';
import { clientAuthParts, type ClientAuthMethod } from '../../../shared/sign-in/client-auth.ts';
import { otherClientAuth } from '../client-auth-tries.ts';
import { HttpCallError } from '../../../shared/http/call-http.ts';
import { callService, type ServiceCall } from '../../../bot/identity/oauth/call-service.ts';
import type { RawResponse } from '../../../bot/identity/oauth/raw-answer.ts';

/** A response and its shape. Without a response, `status` is 0 and `failure` contains the reason. */
export interface ServiceAnswer extends RawResponse {
  contentType: string;
  failure?: string;
  tookMs: number;
}

export interface CodeUse {
  code: string;
  /** PKCE verifier. Omitted by default. */
  verifier?: string;
  /** Overrides the configured secret. */
  clientSecret?: string;
}

/**
 * The endpoints of the sign-in service (SERVICE.md sign-in), called with exactly the parameters of an experiment. Calls are
 * never retried and never throw: every outcome is a finding.
 */
export interface ServiceCalls {
  authorizeUrl(parameters: Readonly<Record<string, string>>): string;
  exchange(use: CodeUse): Promise<ServiceAnswer>;
  refresh(refreshToken: string): Promise<ServiceAnswer>;
  profile(accessToken: string): Promise<ServiceAnswer>;
  logoutUrl(): string;
  /** Another client authentication method that the service accepts, found with made-up codes. */
  otherClientAuth(): Promise<ClientAuthMethod | undefined>;
}

export interface ServiceCallsOptions {
  /** Without a trailing slash. */
  authUrl: string;
  clientId: string;
  clientSecret: string;
  clientAuth?: ClientAuthMethod;
  scope: string;
  redirectUri: string;
}

export function createServiceCalls(options: ServiceCallsOptions): ServiceCalls {
  const { authUrl, clientId, clientSecret, scope, redirectUri } = options;
  const base = `${authUrl}/oauth2.0`;
  const { clientAuth = 'client_secret_post' } = options;
  const client = (secret: string) => clientAuthParts(clientAuth, { clientId, clientSecret: secret });
  return {
    authorizeUrl(parameters) {
      const asked = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope, ...parameters };
      return `${base}/authorize?${new URLSearchParams(asked).toString()}`;
    },
    exchange: ({ code, verifier, clientSecret: usedSecret = clientSecret }) =>
      call(`${base}/accessToken`, {
        headers: client(usedSecret).headers,
        form: definedOnly({
          grant_type: 'authorization_code',
          ...client(usedSecret).form,
          redirect_uri: redirectUri,
          code,
          code_verifier: verifier,
        }),
      }),
    refresh: (refreshToken) =>
      call(`${base}/accessToken`, {
        headers: client(clientSecret).headers,
        form: { grant_type: 'refresh_token', ...client(clientSecret).form, refresh_token: refreshToken },
      }),
    profile: (accessToken) => call(`${base}/profile`, { headers: { authorization: `Bearer ${accessToken}` } }),
    logoutUrl: () => `${authUrl}/logout?${new URLSearchParams({ service: redirectUri }).toString()}`,
    otherClientAuth: () =>
      otherClientAuth({ url: `${base}/accessToken`, redirectUri }, { clientId, clientSecret }, clientAuth),
  };
}

/** Uses the same call as a sign-in, so that both have the same time and size limits. */
async function call(url: string, rest: Omit<ServiceCall, 'url'>): Promise<ServiceAnswer> {
  const startedMs = performance.now();
  const tookMs = () => Math.round(performance.now() - startedMs);
  try {
    const answer = await callService({ url, ...rest });
    return { ...answer, tookMs: tookMs() };
  } catch (error) {
    return {
      status: 0,
      body: '',
      contentType: '',
      failure: error instanceof HttpCallError ? error.detail : 'unknown',
      tookMs: tookMs(),
    };
  }
}
