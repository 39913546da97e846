import { RequestError, TimeoutError } from 'got';
import { asError } from '../../../shared/coded-error.ts';
import { clientAuthParts } from '../../../shared/sign-in/client-auth.ts';
import { IdentityError } from '../identity-error.ts';
import type { SignInService } from '../options.ts';
import { AnswerTooLargeError, CALL_TOTAL_MS, callService, type ServiceCall } from './call-service.ts';
import type { RawAnswer } from './raw-answer.ts';

/** The sign-in service's addresses, spoken to without judging what it says: that is the `…-response.ts` files' part. */
export interface ServiceRequests {
  /** The address a browser is sent to. PKCE is always asked for; a service that does not know it ignores it. */
  authorizeUrl(options: { redirectUri: string; state: string; codeChallenge: string }): string;
  /** Exchanges a code. Never repeated, whatever happens (SECURITY.md code-used-once). @throws IdentityError */
  exchangeCode(options: { code: string; redirectUri: string; codeVerifier: string }): Promise<RawAnswer>;
  /** @throws IdentityError `service_timeout`, `service_unreachable` */
  refresh(refreshToken: string): Promise<RawAnswer>;
  /** Reads the profile, once more if no usable answer came, within 5 s in all. @throws IdentityError */
  profile(accessToken: string): Promise<RawAnswer>;
  /** Where a browser signs out; what it returns to is fixed (SECURITY.md unlink-ends-all). */
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

async function readTwice(call: ServiceCall): Promise<RawAnswer> {
  const startedMs = performance.now();
  const leftMs = () => Math.max(1, CALL_TOTAL_MS - (performance.now() - startedMs));
  const first = await send({ ...call, totalMs: leftMs() }).catch((error: unknown) => asError(error));
  const isUsable = !(first instanceof Error) && first.status < 500;
  return isUsable ? first : send({ ...call, totalMs: leftMs() });
}

async function send(call: ServiceCall): Promise<RawAnswer> {
  try {
    const { status, body } = await callService(call);
    return { status, body };
  } catch (error) {
    throw describe(error);
  }
}

/** Keeps what a log may hold: got's errors carry the request with its secrets (SECURITY.md secrets-stay-inside). */
function describe(error: unknown): IdentityError {
  if (error instanceof AnswerTooLargeError)
    return new IdentityError('service_refused', 'The sign-in service answered with more than 256 KiB');
  if (error instanceof TimeoutError)
    return new IdentityError('service_timeout', `The sign-in service was too slow (${error.event})`);
  const code = error instanceof RequestError ? error.code : 'unknown';
  return new IdentityError('service_unreachable', `The sign-in service could not be reached (${code})`);
}
