import { KIB_BYTES } from '../../../shared/clock.ts';
import { IdentityError } from '../identity-error.ts';
import { isError, readJsonObject, unwrapped } from '../../../shared/sign-in/json-answer.ts';
import type { RawResponse } from './raw-answer.ts';
import { tokenLifeMs, type ExpiresUnit } from './token-life.ts';
import type { JsonObject } from '../../../shared/parse-json.ts';

/** The result of a token request. */
export interface TokenSet {
  accessToken: string;
  /** Absent if the service returned none; the caller then keeps the current one (SECURITY.md refresh-token-kept). */
  refreshToken?: string;
  lifeMs: number;
}

/** Tokens with many groups take some 16 KiB. */
const MAX_TOKEN_BYTES = 32 * KIB_BYTES;

/**
 * Validates the response to a code exchange or a refresh (SECURITY.md token-answer-checked): a JSON object with a usable
 * access token of type bearer. A 200 response that contains `error` is an error.
 * @throws IdentityError `service_refused`
 */
export function readTokenResponse(answer: RawResponse, unit: ExpiresUnit): TokenSet {
  const whole = readJsonObject(answer.body);
  if (answer.status !== 200) throw refused(`status ${answer.status}${codeOf(whole)}`);
  if (!whole) throw refused('not a JSON object');
  const body = unwrapped(whole, 'access_token');
  if (isError(whole['error']) || isError(body['error'])) throw refused(`an error with status 200${codeOf(whole)}`);
  const { access_token: accessToken, token_type: tokenType, refresh_token: refreshToken } = body;
  if (!isToken(accessToken)) throw refused('no usable access_token');
  if (typeof tokenType !== 'string' || tokenType.toLowerCase() !== 'bearer') throw refused('token_type is not bearer');
  const lifeMs = tokenLifeMs(body['expires_in'], unit);
  return isToken(refreshToken) ? { accessToken, refreshToken, lifeMs } : { accessToken, lifeMs };
}

/**
 * How to treat a refused refresh (SECURITY.md refresh-outcomes).
 * - `definitive`: the refresh token is invalid;
 * - `ours`: the client settings are wrong, which concerns no single user;
 * - `transient`: retry later;
 * - `unknown`: definitive only if repeated.
 */
export type RefusalClass = 'definitive' | 'ours' | 'transient' | 'unknown';

const OUR_FAULTS = new Set(['invalid_client', 'unauthorized_client']);

export function classifyRefusal(answer: RawResponse): RefusalClass {
  const body = readJsonObject(answer.body);
  // A 200 response with an error is classified by its error code.
  const status = answer.status === 200 && body && isError(body['error']) ? 400 : answer.status;
  if (status < 400 || status >= 500 || status === 408 || status === 429) return 'transient';
  if (!body) return 'transient';
  const error = body['error'];
  if (typeof error === 'string' && OUR_FAULTS.has(error)) return 'ours';
  const isGrantRefused = error === 'invalid_grant' && (status === 400 || status === 401);
  return isGrantRefused ? 'definitive' : 'unknown';
}

/** The OAuth error code, for the log. Other texts are not logged. */
function codeOf(body: JsonObject | undefined): string {
  const error = body?.['error'];
  return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : '';
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= MAX_TOKEN_BYTES;
}

function refused(what: string): IdentityError {
  return new IdentityError('service_refused', `The token response was refused: ${what}`);
}
