import { definedOnly } from '../../shared/defined-only.ts';
import type { ServiceClient } from '../clients-file.ts';
import { PageError } from './sign-in-errors.ts';

/** The only scope of the interface, granted whether or not it is requested. */
export const DEFAULT_SCOPE = 'SVC-Basic';

/** A validated authorization request. */
export interface AuthorizeRequest {
  clientId: string;
  redirectUri: string;
  scope: string;
  /** Whether another scope was requested, so that the response names the granted one (RFC 6749 section 5.1). */
  isOtherScope: boolean;
  state?: string;
  /** PKCE, S256 only. */
  challenge?: string;
}

/** Either a request to continue with, or an error for the client, sent through its redirect address. */
export type AuthorizeReading = { request: AuthorizeRequest } | { redirectTo: string };

const PARAMETERS = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;
const MAX_PARAMETER_CHARS = 2_048;
const S256_CHALLENGE = /^[\w-]{43}$/;

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * Validates an authorization request (RFC 6749 section 4.1.1). Nothing is redirected until both client and redirect address
 * are known.
 * @throws PageError `bad_request`, `unknown_client`, `unknown_redirect`
 */
export function readAuthorizeRequest(
  querystring: string,
  clients: ReadonlyMap<string, ServiceClient>,
): AuthorizeReading {
  const parameters = readParameters(querystring);
  const client = clients.get(parameters.client_id ?? '');
  if (!client) throw new PageError('unknown_client', 'This client is not registered');
  const redirectUri = parameters.redirect_uri;
  if (redirectUri === undefined || !client.redirectUris.includes(redirectUri)) {
    throw new PageError('unknown_redirect', 'The redirect address is not registered for this client');
  }
  const error = judge(parameters);
  const state = parameters.state;
  if (error !== undefined) return { redirectTo: redirectAddress(redirectUri, { error, state }) };
  return {
    request: {
      clientId: client.clientId,
      redirectUri,
      scope: DEFAULT_SCOPE,
      isOtherScope: !['', DEFAULT_SCOPE].includes(parameters.scope?.trim() ?? ''),
      state,
      challenge: parameters.code_challenge,
    },
  };
}

function readParameters(querystring: string): Parameters {
  const query = new URLSearchParams(querystring);
  const parameters: Parameters = {};
  for (const name of PARAMETERS) {
    const [value, ...more] = query.getAll(name);
    if (more.length > 0 || (value ?? '').length > MAX_PARAMETER_CHARS)
      throw new PageError('bad_request', `${name} is repeated or too long`);
    // A parameter without a value counts as omitted (RFC 6749 section 3.1); an empty state is still returned as received.
    if (value !== undefined && (value !== '' || name === 'state')) parameters[name] = value;
  }
  return parameters;
}

/** The error code of RFC 6749 section 4.1.2.1, or undefined. */
function judge(parameters: Parameters): string | undefined {
  if (parameters.response_type === undefined) return 'invalid_request';
  if (parameters.response_type !== 'code') return 'unsupported_response_type';
  const scopes = (parameters.scope ?? '').split(' ').filter((scope) => scope !== '');
  if (scopes.length > 0 && !scopes.includes(DEFAULT_SCOPE)) return 'invalid_scope';
  const { code_challenge: challenge, code_challenge_method: method } = parameters;
  if (challenge === undefined && method === undefined) return undefined;
  // Without a method RFC 7636 means "plain", which adds no protection beyond the address itself.
  return method === 'S256' && S256_CHALLENGE.test(challenge ?? '') ? undefined : 'invalid_request';
}

/**
 * The client's address with response parameters, and `state` as received (RFC 6749 section 4.1.2). Its existing query
 * parameters are kept.
 */
export function redirectAddress(redirectUri: string, answer: Record<string, string | undefined>): string {
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(definedOnly(answer)).toString()}`;
}

/** Value for `form-action` that permits the redirect after a form: an origin, or the scheme of an app's own address. */
export function formTarget(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri);
  return origin === 'null' ? protocol : origin;
}
