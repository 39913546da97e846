import { got } from 'got';
import { inBackground } from '../../base/in-background.ts';
import { KIB_BYTES, SECOND_MS } from '../../base/clock.ts';
import type { RawAnswer } from '../../identity/oauth/raw-answer.ts';

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
 * The sign-in service's addresses as the specification has them (sections 4.2 to 4.6), with nothing added that an experiment
 * did not ask for. No call is ever repeated and none throws: whatever comes is a finding.
 */
export interface ServiceCalls {
  authorizeUrl(parameters: Readonly<Record<string, string>>): string;
  exchange(use: CodeUse): Promise<ServiceAnswer>;
  refresh(refreshToken: string): Promise<ServiceAnswer>;
  profile(accessToken: string): Promise<ServiceAnswer>;
  logoutUrl(): string;
}

export interface ServiceCallsOptions {
  /** Without a slash at its end. */
  authUrl: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  redirectUri: string;
}

/** The limits that a sign-in has too (SECURITY.md code-used-once): what is slower here fails there. */
const CONNECT_MS = 2 * SECOND_MS;
const TOTAL_MS = 5 * SECOND_MS;
const MAX_ANSWER_BYTES = 64 * KIB_BYTES;

export function createServiceCalls(options: ServiceCallsOptions): ServiceCalls {
  const { authUrl, clientId, clientSecret, scope, redirectUri } = options;
  const base = `${authUrl}/oauth2.0`;
  const client = { client_id: clientId, client_secret: clientSecret };
  return {
    authorizeUrl(parameters) {
      const asked = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope, ...parameters };
      return `${base}/authorize?${new URLSearchParams(asked).toString()}`;
    },
    exchange: ({ code, verifier, clientSecret: otherSecret }) =>
      call(`${base}/accessToken`, {
        form: {
          grant_type: 'authorization_code',
          ...client,
          ...(otherSecret === undefined ? {} : { client_secret: otherSecret }),
          redirect_uri: redirectUri,
          code,
          ...(verifier === undefined ? {} : { code_verifier: verifier }),
        },
      }),
    refresh: (refreshToken) =>
      call(`${base}/accessToken`, { form: { grant_type: 'refresh_token', ...client, refresh_token: refreshToken } }),
    profile: (accessToken) => call(`${base}/profile`, { headers: { authorization: `Bearer ${accessToken}` } }),
    logoutUrl: () => `${authUrl}/logout?${new URLSearchParams({ service: redirectUri }).toString()}`,
  };
}

interface Outgoing {
  form?: Record<string, string>;
  headers?: Record<string, string>;
}

async function call(url: string, { form, headers }: Outgoing): Promise<ServiceAnswer> {
  const startedMs = performance.now();
  const tookMs = () => Math.round(performance.now() - startedMs);
  const stop = new AbortController();
  const request = got(url, {
    method: form ? 'POST' : 'GET',
    ...(form ? { form } : {}),
    headers: { accept: 'application/json', ...headers },
    timeout: { lookup: CONNECT_MS, connect: CONNECT_MS, secureConnect: CONNECT_MS, request: TOTAL_MS },
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
    const { statusCode, body, headers: answered } = await request;
    return { status: statusCode, body, contentType: answered['content-type'] ?? '', tookMs: tookMs() };
  } catch (error) {
    // The client's error holds the request with its secrets; its code says enough (SECURITY.md secrets-stay-inside).
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    const failure = stop.signal.aborted ? 'more than 64 KiB' : code;
    return { status: 0, body: '', contentType: '', failure, tookMs: tookMs() };
  }
}
