import { boundedFetch } from '../../../shared/sign-in/bounded-fetch.ts';
import { OidcClient } from '../../../shared/sign-in/oidc-client.ts';
import { methodUrl, signInScopes } from './app-rights.ts';

/** The app as Slack's OpenID Connect knows it. */
export interface SlackClient {
  clientId: string;
  clientSecret: string;
}

/** Where Slack is: pages and keys under the one, calls under the other. Neither ends in a slash. */
export interface SlackAddresses {
  openUrl: string;
  apiUrl: string;
}

/** Slack's addresses of OpenID Connect (PLATFORM_FACTS.md slack-web-sign-in); its issuer is where its pages are. */
export function openIdAddresses({ openUrl, apiUrl }: SlackAddresses) {
  return {
    issuer: openUrl,
    authorization_endpoint: `${openUrl}/openid/connect/authorize`,
    token_endpoint: methodUrl(apiUrl, 'openid.connect.token'),
    userinfo_endpoint: methodUrl(apiUrl, 'openid.connect.userInfo'),
    jwks_uri: `${openUrl}/openid/connect/keys`,
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  };
}

/** Who signs in is told by an id token whose signature, issuer, audience, nonce and times are checked (SECURITY.md checked-id-tokens). */
export function createOpenIdClient(client: SlackClient, addresses: SlackAddresses): OidcClient {
  const server = openIdAddresses(addresses);
  // Apps opt in to PKCE at Slack one by one; code and browser are bound by the nonce, and only we have the secret.
  return new OidcClient({
    ...client,
    issuer: server.issuer,
    server,
    scope: signInScopes().join(' '),
    usesPkce: false,
    fetch: inOauthWords,
  });
}

/** Slack says no with HTTP 200 and `ok` false. In OAuth's words that is 400 with the same `error` (RFC 6749 section 5.2). */
async function inOauthWords(url: string, options: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, options);
  if (response.status !== 200) return response;
  const { headers } = response;
  const text = await response.text();
  return new Response(text, { status: errorOf(text) === undefined ? 200 : 400, headers });
}

/** Slack's word for why it says no; undefined when it does not. */
export function errorOf(text: string): string | undefined {
  try {
    const answer = JSON.parse(text) as { ok?: unknown; error?: unknown } | null;
    return answer !== null && answer.ok !== true && 'error' in answer ? String(answer.error) : undefined;
  } catch {
    return undefined;
  }
}
