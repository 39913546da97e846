/**
 * Client authentication at the token endpoint (RFC 6749 section 2.3.1). The first and the last are registered names;
 * `client_secret_basic_raw` is HTTP Basic without the form encoding of id and secret, which some providers do not decode.
 */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_basic_raw', 'client_secret_post'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
}

/** Credentials that a token request has to contain. */
export interface ClientAuthParts {
  headers: Readonly<Record<string, string>>;
  form: Readonly<Record<string, string>>;
}

export function clientAuthParts(
  method: ClientAuthMethod,
  { clientId, clientSecret }: ClientCredentials,
): ClientAuthParts {
  if (method === 'client_secret_post')
    return { headers: {}, form: { client_id: clientId, client_secret: clientSecret } };
  const encode = method === 'client_secret_basic' ? formEncoded : (text: string) => text;
  const pair = `${encode(clientId)}:${encode(clientSecret)}`;
  return { headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }, form: {} };
}

/** HTTP Basic if the provider supports it or lists nothing (OpenID Connect Discovery section 3), else the form. */
export function offeredMethod(supported: readonly string[] = ['client_secret_basic']): ClientAuthMethod {
  return supported.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
