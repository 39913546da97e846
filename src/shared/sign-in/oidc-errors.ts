import * as oidc from 'openid-client';
import { HttpCallError } from '../http/call-http.ts';
import { ProviderError } from './provider-error.ts';

/** Error response of the token endpoint. */
export interface Refusal {
  status: number;
  /** OAuth error code, such as `invalid_grant`. */
  error: string;
}

/**
 * The library's errors contain bodies and addresses, so only their codes are passed on (SECURITY.md secrets-stay-inside).
 */
export function asProviderError(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError) return thrown;
  if (thrown instanceof oidc.AuthorizationResponseError) {
    return thrown.error === 'access_denied'
      ? new ProviderError('declined', 'The OIDC provider reports that the person did not agree')
      : new ProviderError('failed', `The OIDC provider answered with ${plainCode(thrown.error)}`);
  }
  if (thrown instanceof oidc.ResponseBodyError)
    return new ProviderError('failed', `OIDC sign-in failed: ${plainCode(thrown.error)}`);
  const code = codeOf(thrown);
  if (code === 'OAUTH_TIMEOUT' || isTimeout(thrown))
    return new ProviderError('timeout', 'The OIDC provider did not respond in time');
  if (isNoAnswer(thrown)) return new ProviderError('unreachable', 'The OIDC provider could not be reached');
  if (thrown instanceof RangeError) return new ProviderError('failed', 'The OIDC provider returned too much data');
  return new ProviderError('failed', `OIDC sign-in failed: ${plainCode(code ?? 'no answer')}${detailOf(thrown)}`);
}

/** OAuth error of the token endpoint; undefined for any other failure. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  return thrown instanceof oidc.ResponseBodyError ? { status: thrown.status, error: thrown.error } : undefined;
}

function isNoAnswer(thrown: unknown): boolean {
  return thrown instanceof HttpCallError && (thrown.code === 'unreachable' || thrown.code === 'unsent');
}

function isTimeout(thrown: unknown): boolean {
  return (
    (thrown instanceof DOMException && thrown.name === 'TimeoutError') ||
    (thrown instanceof HttpCallError && thrown.code === 'timeout')
  );
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof oidc.ClientError ? thrown.code : undefined;
}

/** Parts of responses that the library names in its messages. Other words of a message may come from the provider. */
const PARTS =
  /"(access_token|token_type|expires_in|refresh_token|id_token|alg|sub|iss|aud|azp|nonce|exp|iat|nbf|crit)"/;

/** The part of a response that was wrong, and the usual cause. */
function detailOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const part = PARTS.exec([thrown, cause].map((one) => (one instanceof Error ? one.message : '')).join(' '))?.[1];
  if (part !== undefined) return ` (${part}${MEANINGS[part] ?? ''})`;
  return cause instanceof Response ? ` (HTTP ${cause.status})` : '';
}

const MEANINGS: Readonly<Record<string, string>> = {
  alg: ': the id token is not signed with an accepted algorithm',
  sub: ': the subject is missing or not a string',
  iss: ': another issuer',
  aud: ': for another client',
  azp: ': for several clients, and not for this one',
  nonce: ': of another sign-in',
  exp: ': expired; compare the clocks of both machines',
  nbf: ': not valid yet; compare the clocks of both machines',
};

/** An error code in the form that the standards define. Anything else is the provider's own text and is not logged. */
function plainCode(code: string): string {
  return /^\w[\w ]{0,63}$/.test(code) ? code : 'an unknown error';
}
