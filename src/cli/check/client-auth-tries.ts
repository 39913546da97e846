import {
  CLIENT_AUTH_METHODS,
  clientAuthParts,
  type ClientAuthMethod,
  type ClientCredentials,
} from '../../shared/sign-in/client-auth.ts';
import { readJsonObject } from '../../shared/sign-in/json-answer.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';

interface TokenAddress {
  url: string;
  redirectUri: string;
}

/** The result of sending a made-up code. `taken`: only the code was rejected. */
export type ClientVerdict = 'taken' | 'refused' | 'unclear';

/** Authenticates the client at the token endpoint with a made-up code. */
export async function tryClientAuth(
  { url, redirectUri }: TokenAddress,
  credentials: ClientCredentials,
  method: ClientAuthMethod,
): Promise<ClientVerdict> {
  const { headers, form } = clientAuthParts(method, credentials);
  const asked = {
    grant_type: 'authorization_code',
    code: 'check',
    redirect_uri: redirectUri,
    code_verifier: 'x'.repeat(43),
  };
  const answer = await requestForCheck(url, { form: { ...asked, ...form }, headers });
  const error = 'body' in answer ? readJsonObject(answer.body)?.['error'] : undefined;
  if (error === 'invalid_grant') return 'taken';
  return error === 'invalid_client' || error === 'unauthorized_client' ? 'refused' : 'unclear';
}

/** Finds a client authentication method that the provider accepts, after another one was refused. */
export async function otherClientAuth(
  address: TokenAddress,
  credentials: ClientCredentials,
  refused: ClientAuthMethod,
): Promise<ClientAuthMethod | undefined> {
  for (const method of CLIENT_AUTH_METHODS)
    if (method !== refused && (await tryClientAuth(address, credentials, method)) === 'taken') return method;
  return undefined;
}
