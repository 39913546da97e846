import { boundedFetch } from '../../../shared/sign-in/bounded-fetch.ts';
import { OidcClient } from '../../../shared/sign-in/oidc-client.ts';
import { methodUrl, signInScopes } from './app-rights.ts';

/** OpenID Connect client credentials of the app. */
export interface SlackClient {
  clientId: string;
  clientSecret: string;
}

/** Base addresses without a trailing slash: `openUrl` for pages and keys, `apiUrl` for calls. */
export interface SlackAddresses {
  openUrl: string;
  apiUrl: string;
}

/** Slack's OpenID Connect addresses (PLATFORM_FACTS.md slack-web-sign-in). The issuer is the base address of its pages. */
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

/**
 * The id token identifies the person; its signature, issuer, audience, nonce and times are checked
 * (SECURITY.md checked-id-tokens).
 */
export function createOpenIdClient(client: SlackClient, addresses: SlackAddresses): OidcClient {
  const server = openIdAddresses(addresses);
  // Slack enables PKCE per app on request. The nonce binds the code to the browser, and only Parley has the secret.
  return new OidcClient({
    ...client,
    issuer: server.issuer,
    server,
    scope: signInScopes().join(' '),
    usesPkce: false,
    fetch: fetchAsOAuth,
  });
}

/**
 * Slack reports a refusal as HTTP 200 with `ok` false. Converts it to OAuth's form: 400 with the same `error` (RFC 6749
 * section 5.2).
 */
async function fetchAsOAuth(url: string, options: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, options);
  if (response.status !== 200) return response;
  const { headers } = response;
  const text = await response.text();
  return new Response(text, { status: errorOf(text) === undefined ? 200 : 400, headers });
}

/** Slack's error code; undefined for a success. */
export function errorOf(text: string): string | undefined {
  try {
    const answer = JSON.parse(text) as { ok?: unknown; error?: unknown } | null;
    return answer !== null && answer.ok !== true && 'error' in answer ? String(answer.error) : undefined;
  } catch {
    return undefined;
  }
}
