import { asError } from '../../../shared/coded-error.ts';
import { HttpCallError } from '../../../shared/http/call-http.ts';
import { clientAuthParts } from '../../../shared/sign-in/client-auth.ts';
import { IdentityError } from '../identity-error.ts';
import type { SignInService } from '../options.ts';
import { CALL_TOTAL_MS, callService, type ServiceCall } from './call-service.ts';
import type { RawResponse } from './raw-answer.ts';

/** The endpoints of the sign-in service. Responses are returned unvalidated; the `…-response.ts` files validate them. */
export interface ServiceRequests {
  /** The address to redirect the browser to. Always includes PKCE parameters; a service without PKCE ignores them. */
  authorizeUrl(options: { redirectUri: string; state: string; codeChallenge: string }): string;
  /** Exchanges a code. Never retried (SECURITY.md code-used-once). @throws IdentityError */
  exchangeCode(options: { code: string; redirectUri: string; codeVerifier: string }): Promise<RawResponse>;
  /** @throws IdentityError `service_timeout`, `service_unreachable` */
  refresh(refreshToken: string): Promise<RawResponse>;
  /** Reads the profile. Retries once without a usable response, within 5 s in total. @throws IdentityError */
  profile(accessToken: string): Promise<RawResponse>;
  /** The service's sign-out address with a fixed return address (SECURITY.md unlink-ends-all). */
  logoutUrl(returnTo: string): string;
}

export function createServiceRequests(
  service: Pick<SignInService, 'authUrl' | 'clientId' | 'clientSecret' | 'clientAuth' | 'scope'>,
): ServiceRequests {
  const base = `${service.authUrl.replace(/(?<!\/)\/+$/, '')}/oauth2.0`;
  const client = clientAuthParts(service.clientAuth ?? 'client_secret_post', service);
  const token = (form: Record<string, string>) =>
    send({ url: `${base}/accessToken`, form: { ...form, ...client.form }, headers: client.headers });
  return {
    authorizeUrl({ redirectUri, state, codeChallenge }) {
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: service.clientId,
        redirect_uri: redirectUri,
      });
      if (service.scope) query.set('scope', service.scope);
      for (const [name, value] of Object.entries({ state, code_challenge: codeChallenge })) query.set(name, value);
      query.set('code_challenge_method', 'S256');
      return `${base}/authorize?${query.toString()}`;
    },
    exchangeCode: ({ code, redirectUri, codeVerifier }) =>
      token({ grant_type: 'authorization_code', redirect_uri: redirectUri, code, code_verifier: codeVerifier }),
    refresh: (refreshToken) => token({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    profile: (accessToken) =>
      readTwice({ url: `${base}/profile`, headers: { authorization: `Bearer ${accessToken}` } }),
    logoutUrl: (returnTo) =>
      `${service.authUrl.replace(/(?<!\/)\/+$/, '')}/logout?${new URLSearchParams({ service: returnTo }).toString()}`,
  };
}

async function readTwice(call: ServiceCall): Promise<RawResponse> {
  const startedMs = performance.now();
  const leftMs = () => Math.max(1, CALL_TOTAL_MS - (performance.now() - startedMs));
  const first = await send({ ...call, timeoutMs: leftMs() }).catch((error: unknown) => asError(error));
  const isUsable = !(first instanceof Error) && first.status < 500;
  return isUsable ? first : send({ ...call, timeoutMs: leftMs() });
}

async function send(call: ServiceCall): Promise<RawResponse> {
  try {
    const { status, body } = await callService(call);
    return { status, body };
  } catch (error) {
    throw describe(error);
  }
}

function describe(error: unknown): IdentityError {
  const { code, detail } = error instanceof HttpCallError ? error : { code: 'unreachable', detail: 'unknown' };
  if (code === 'too_large')
    return new IdentityError('service_refused', 'The sign-in service answered with more than 256 KiB');
  if (code === 'timeout') return new IdentityError('service_timeout', 'The sign-in service did not respond in time');
  return new IdentityError('service_unreachable', `The sign-in service could not be reached (${detail})`);
}
