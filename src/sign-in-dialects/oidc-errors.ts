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
  if (code === 'OAUTH_TIMEOUT') return new ProviderError('timeout', 'The OIDC provider was too slow');
  if (isNoAnswer(thrown)) return new ProviderError('unreachable', 'The OIDC provider could not be reached');
  return new ProviderError('failed', `OIDC sign-in failed: ${plainCode(code ?? 'no answer')}`);
}

/** What the token address refused in the protocol's words; undefined for every other failure. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  return thrown instanceof oidc.ResponseBodyError ? { status: thrown.status, error: thrown.error } : undefined;
}

/** Whether no key that we know fits an id token: only who gives id tokens can bring that about. */
export function isAboutKeys(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (code === 'OAUTH_KEY_SELECTION_FAILED') return true;
  // A signature that does not fit the key of its name, or an algorithm that the provider did not name before.
  return code === 'OAUTH_INVALID_RESPONSE' && /signature|"alg"/.test(messagesOf(thrown));
}

function isNoAnswer(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === 'fetch failed';
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof oidc.ClientError ? thrown.code : undefined;
}

function messagesOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return [thrown, cause].map((one) => (one instanceof Error ? one.message : '')).join(' ');
}

/** An error code as the standards write them; anything else is the provider's own text, which stays out of the log. */
function plainCode(code: string): string {
  return /^\w[\w ]{0,63}$/.test(code) ? code : 'an unusual error';
}
