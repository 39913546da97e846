import { got, RequestError, TimeoutError } from 'got';
import { inBackground } from '../../base/in-background.ts';
import { KIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import { asError } from '../../base/coded-error.ts';
import { IdentityError } from '../identity-error.ts';
import type { SignInOptions } from '../options.ts';
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

const CONNECT_MS = 2 * SECOND_MS;
const TOTAL_MS = 5 * SECOND_MS;
const MAX_ANSWER_BYTES = 64 * KIB_BYTES;

export function createServiceRequests(signIn: SignInOptions): ServiceRequests {
  const base = `${signIn.authUrl.replace(/\/+$/, '')}/oauth2.0`;
  const client = { client_id: signIn.clientId, client_secret: signIn.clientSecret };
  const token = (form: Record<string, string>) => send({ url: `${base}/accessToken`, form: { ...form, ...client } });
  return {
    authorizeUrl({ redirectUri, state, codeChallenge }) {
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: signIn.clientId,
        redirect_uri: redirectUri,
      });
      if (signIn.scope) query.set('scope', signIn.scope);
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
      `${signIn.authUrl.replace(/\/+$/, '')}/logout?${new URLSearchParams({ service: returnTo }).toString()}`,
  };
}

interface Outgoing {
  url: string;
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

async function readTwice(request: Outgoing): Promise<RawAnswer> {
  const startedMs = performance.now();
  const leftMs = () => Math.max(1, TOTAL_MS - (performance.now() - startedMs));
  const first = await send(request, leftMs()).catch((error: unknown) => asError(error));
  const isUsable = !(first instanceof Error) && first.status < 500;
  return isUsable ? first : send(request, leftMs());
}

async function send({ url, form, headers }: Outgoing, totalMs: number = TOTAL_MS): Promise<RawAnswer> {
  const stop = new AbortController();
  const request = got(url, {
    method: form ? 'POST' : 'GET',
    ...(form ? { form } : {}),
    headers: { accept: 'application/json', ...headers },
    timeout: { lookup: CONNECT_MS, connect: CONNECT_MS, secureConnect: CONNECT_MS, request: totalMs },
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    signal: stop.signal,
  });
  const watch = ({ transferred }: { transferred: number }) => {
    if (transferred > MAX_ANSWER_BYTES) stop.abort();
  };
  // What it comes to is awaited below.
  inBackground(() => request.on('downloadProgress', watch));
  try {
    const { statusCode, body } = await request;
    return { status: statusCode, body };
  } catch (error) {
    throw describe(error, stop.signal.aborted);
  }
}

/** Keeps what a log may hold: got's errors carry the request with its secrets (SECURITY.md secrets-stay-inside). */
function describe(error: unknown, isTooLarge: boolean): IdentityError {
  if (isTooLarge) return new IdentityError('service_refused', 'The sign-in service answered with more than 64 KiB');
  if (error instanceof TimeoutError)
    return new IdentityError('service_timeout', `The sign-in service was too slow (${error.event})`);
  const code = error instanceof RequestError ? error.code : 'unknown';
  return new IdentityError('service_unreachable', `The sign-in service could not be reached (${code})`);
}
