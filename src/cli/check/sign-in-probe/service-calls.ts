import { definedOnly } from '../../../shared/defined-only.ts';
import { clientAuthParts, type ClientAuthMethod } from '../../../shared/sign-in/client-auth.ts';
import { otherClientAuth } from '../client-auth-tries.ts';
import { AnswerTooLargeError, callService, type ServiceCall } from '../../../bot/identity/oauth/call-service.ts';
import type { RawAnswer } from '../../../bot/identity/oauth/raw-answer.ts';

/** An answer with what tells its shape; `status` is 0 and `failure` says why when there was none. */
export interface ServiceAnswer extends RawAnswer {
  contentType: string;
  failure?: string;
  tookMs: number;
}

export interface CodeUse {
  code: string;
  /** PKCE's verifier; not sent unless given. */
  verifier?: string;
  /** Another secret than ours. */
  clientSecret?: string;
}

/**
 * The sign-in service's addresses (SERVICE.md sign-in), with nothing added that an experiment
 * did not ask for. No call is ever repeated and none throws: whatever comes is a finding.
 */
export interface ServiceCalls {
  authorizeUrl(parameters: Readonly<Record<string, string>>): string;
  exchange(use: CodeUse): Promise<ServiceAnswer>;
  refresh(refreshToken: string): Promise<ServiceAnswer>;
  profile(accessToken: string): Promise<ServiceAnswer>;
  logoutUrl(): string;
  /** Another way to send the secret that the service takes, found by made-up codes. */
  otherClientAuth(): Promise<ClientAuthMethod | undefined>;
}

export interface ServiceCallsOptions {
  /** Without a slash at its end. */
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

/** By the call that a sign-in makes too: what is too slow or too large there is so here. */
async function call(url: string, rest: Omit<ServiceCall, 'url'>): Promise<ServiceAnswer> {
  const startedMs = performance.now();
  const tookMs = () => Math.round(performance.now() - startedMs);
  try {
    const answer = await callService({ url, ...rest });
    return { ...answer, tookMs: tookMs() };
  } catch (error) {
    return { status: 0, body: '', contentType: '', failure: failureOf(error), tookMs: tookMs() };
  }
}

/** The client's error holds the request with its secrets; its code says enough (SECURITY.md secrets-stay-inside). */
function failureOf(error: unknown): string {
  if (error instanceof AnswerTooLargeError) return error.message;
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
