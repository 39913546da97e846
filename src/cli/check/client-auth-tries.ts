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

/** What became of a made-up code: `taken` says that only the code was refused. */
export type ClientVerdict = 'taken' | 'refused' | 'unclear';

/** Shows the client at the token address with a made-up code. */
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

/** A method by which the client is taken, where another one was refused. */
export async function otherClientAuth(
  address: TokenAddress,
  credentials: ClientCredentials,
  refused: ClientAuthMethod,
): Promise<ClientAuthMethod | undefined> {
  for (const method of CLIENT_AUTH_METHODS)
    if (method !== refused && (await tryClientAuth(address, credentials, method)) === 'taken') return method;
  return undefined;
}
