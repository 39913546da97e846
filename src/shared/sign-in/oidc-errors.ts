import * as oidc from 'openid-client';
import { ProviderError } from './provider-error.ts';

/** What the token address said no with. */
export interface Refusal {
  status: number;
  /** The protocol's own word, `invalid_grant`. */
  error: string;
}

/** The library's errors hold bodies and addresses, so that only their codes go on (SECURITY.md secrets-stay-inside). */
export function asProviderError(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError) return thrown;
  if (thrown instanceof oidc.AuthorizationResponseError) {
    return thrown.error === 'access_denied'
      ? new ProviderError('declined', 'The OIDC provider says that the person did not agree')
      : new ProviderError('failed', `The OIDC provider answered with ${plainCode(thrown.error)}`);
  }
  if (thrown instanceof oidc.ResponseBodyError)
    return new ProviderError('failed', `OIDC sign-in failed: ${plainCode(thrown.error)}`);
  const code = codeOf(thrown);
  if (code === 'OAUTH_TIMEOUT' || isTimeout(thrown))
    return new ProviderError('timeout', 'The OIDC provider was too slow');
  if (isNoAnswer(thrown)) return new ProviderError('unreachable', 'The OIDC provider could not be reached');
  if (thrown instanceof RangeError) return new ProviderError('failed', 'The OIDC provider answered too much');
  return new ProviderError('failed', `OIDC sign-in failed: ${plainCode(code ?? 'no answer')}${detailOf(thrown)}`);
}

/** What the token address refused in the protocol's words; undefined for every other failure. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  return thrown instanceof oidc.ResponseBodyError ? { status: thrown.status, error: thrown.error } : undefined;
}

function isNoAnswer(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === 'fetch failed';
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'TimeoutError';
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof oidc.ClientError ? thrown.code : undefined;
}

/** Parts of answers that the library names in its messages; other words of a message may be the provider's. */
const PARTS =
  /"(access_token|token_type|expires_in|refresh_token|id_token|alg|sub|iss|aud|azp|nonce|exp|iat|nbf|crit)"/;

/** Which part of an answer was wrong, and what that usually means. */
function detailOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const part = PARTS.exec([thrown, cause].map((one) => (one instanceof Error ? one.message : '')).join(' '))?.[1];
  if (part !== undefined) return ` (${part}${MEANINGS[part] ?? ''})`;
  return cause instanceof Response ? ` (HTTP ${cause.status})` : '';
}

const MEANINGS: Readonly<Record<string, string>> = {
  alg: ': the id token is signed by no algorithm that counts',
  sub: ': the subject is missing or no text',
  iss: ': another issuer',
  aud: ': for another client',
  azp: ': for several clients, and not for this one',
  nonce: ': of another sign-in',
  exp: ': over; compare the clocks of both machines',
  nbf: ': not valid yet; compare the clocks of both machines',
};

/** An error code as the standards write them; anything else is the provider's own text, which stays out of the log. */
function plainCode(code: string): string {
  return /^\w[\w ]{0,63}$/.test(code) ? code : 'an unusual error';
}
