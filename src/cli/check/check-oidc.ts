import type { CheckResult } from '../../bot/platforms/platform.ts';
import { offeredMethod, type ClientAuthMethod } from '../../shared/sign-in/client-auth.ts';
import { readJsonObject } from '../../shared/sign-in/json-answer.ts';
import { discoveryAddress, isForEveryTenant, isSameIssuer } from '../../shared/sign-in/provider-metadata.ts';
import { PUBLIC_KEY_ALGORITHMS, signingAlgorithms } from '../../shared/sign-in/signing-keys.ts';
import { otherClientAuth, tryClientAuth } from './client-auth-tries.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';
import { resultsOf } from './results-of.ts';

export interface OidcCheckOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  clientAuth?: ClientAuthMethod;
  scope: string;
  redirectUri: string;
}

const { ok, hint, warning, fault } = resultsOf('Sign-in service');
const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

type Metadata = Readonly<Record<string, unknown>>;

/**
 * Compares an OpenID Connect provider's metadata with the settings, then tests the client at the provider. No one signs in.
 */
export async function checkOidc(options: OidcCheckOptions): Promise<CheckResult[]> {
  const { issuer } = options;
  const address = discoveryAddress(issuer);
  const answer = await requestForCheck(address);
  if ('code' in answer)
    return [fault(`cannot be reached (${answer.code})`, 'Check SIGN_IN_URL and that this machine can reach it')];
  const metadata = answer.status === 200 ? readJsonObject(answer.body) : undefined;
  if (!metadata) {
    const detail = `no OpenID Connect discovery document at ${address} (${answer.status})`;
    return [fault(detail, 'Set SIGN_IN_URL to the exact issuer of the provider, or correct SIGN_IN_TYPE')];
  }
  const named = metadata['issuer'];
  if (isForEveryTenant(named))
    return [
      fault(
        'accepts every tenant: any account of any tenant could sign in',
        'Set SIGN_IN_URL to the issuer of your tenant (Entra ID: https://login.microsoftonline.com/TENANT-ID/v2.0)',
      ),
    ];
  if (!isSameIssuer(issuer, named)) {
    const detail =
      typeof named === 'string'
        ? `its issuer is ${named}, but SIGN_IN_URL is ${issuer}`
        : 'its discovery document names no issuer';
    return [fault(detail, 'Set SIGN_IN_URL to exactly that issuer')];
  }
  const lacking = REQUIRED.filter((field) => typeof metadata[field] !== 'string');
  if (lacking.length > 0)
    return [
      fault(
        `its discovery document has no ${lacking.join(', ')}`,
        'Contact the operator of the provider: sign-in does not work without these fields',
      ),
    ];
  const found = [
    ...findings(metadata, options),
    ...(await ofKeys(metadata, options)),
    ...(await ofClient(metadata, options)),
  ];
  if (found.some(({ verdict }) => verdict === 'fault')) return found;
  const detail = 'is an OpenID Connect provider that accepts our client and redirect address';
  // No request without a person shows whether it is registered.
  const nextStep =
    typeof metadata['end_session_endpoint'] === 'string'
      ? `For sign-out, also register ${options.redirectUri} as a post-logout redirect URI, if the provider asks for one`
      : undefined;
  return [ok(detail, nextStep), ...found];
}

/** Mismatches found in the discovery document. A list that is absent proves nothing. */
function findings(metadata: Metadata, { scope, clientSecret }: OidcCheckOptions): CheckResult[] {
  const lists = (field: string, word: string) => listOf(metadata, field)?.includes(word) ?? true;
  const found: CheckResult[] = [];
  const algorithms = listOf(metadata, 'id_token_signing_alg_values_supported');
  const { secret } = signingAlgorithms(algorithms, clientSecret);
  if (secret === undefined && algorithms?.every((name) => !PUBLIC_KEY_ALGORITHMS.includes(name)) === true)
    found.push(
      fault(
        'does not sign id tokens with a public key',
        'Configure the provider to sign with RS256 or ES256, or with HS256 and a client secret of at least 32 bytes',
      ),
    );
  if (!lists('response_types_supported', 'code'))
    found.push(
      fault('does not support the authorization code flow', 'Allow the authorization code flow at the provider'),
    );
  if (!lists('code_challenge_methods_supported', 'S256'))
    found.push(warning('does not list PKCE with S256', 'Enable PKCE with S256 for this client'));
  const unknown = scope.split(' ').filter((one) => !lists('scopes_supported', one));
  if (unknown.length > 0)
    found.push(
      warning(
        `does not list the scope ${unknown.join(', ')}`,
        'Remove it from SIGN_IN_SCOPE, or add it at the provider',
      ),
    );
  if (listOf(metadata, 'scopes_supported')?.includes('offline_access') && !scope.split(' ').includes('offline_access'))
    found.push(
      hint(
        'supports offline_access, which SIGN_IN_SCOPE does not request',
        'Add it if the provider requires it for refresh tokens (Entra ID, Okta): without them accounts are not checked daily, and people sign in again after 30 days',
      ),
    );
  if (typeof metadata['end_session_endpoint'] !== 'string')
    found.push(
      hint(
        'has no sign-out address',
        'After /unlink people stay signed in at the provider; ignore this if that is intended',
      ),
    );
  return found;
}

async function ofKeys(metadata: Metadata, { clientSecret }: OidcCheckOptions): Promise<CheckResult[]> {
  const { secret } = signingAlgorithms(listOf(metadata, 'id_token_signing_alg_values_supported'), clientSecret);
  if (secret !== undefined) return [];
  const answer = await requestForCheck(String(metadata['jwks_uri']));
  const keys = 'body' in answer && answer.status === 200 ? readJsonObject(answer.body)?.['keys'] : undefined;
  if (Array.isArray(keys) && keys.length > 0) return [];
  return [
    fault(
      'its signing keys cannot be read (jwks_uri)',
      'Contact the operator of the provider: id tokens cannot be verified without its keys',
    ),
  ];
}

/** Sends a made-up code. A provider that rejects only the code has accepted the client and its secret. */
async function ofClient(metadata: Metadata, options: OidcCheckOptions): Promise<CheckResult[]> {
  const { clientId, clientSecret, clientAuth, redirectUri, scope } = options;
  const method = clientAuth ?? offeredMethod(listOf(metadata, 'token_endpoint_auth_methods_supported'));
  const address = { url: String(metadata['token_endpoint']), redirectUri };
  if ((await tryClientAuth(address, { clientId, clientSecret }, method)) === 'refused') {
    const other = await otherClientAuth(address, { clientId, clientSecret }, method);
    if (other)
      return [fault(`refuses our client by ${method}`, `Set SIGN_IN_CLIENT_AUTH=${other}, which the provider accepts`)];
    return [
      fault(
        'refuses our client',
        'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET to the values that the provider issued',
      ),
    ];
  }
  const query = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope });
  const extra = { state: 'check', nonce: 'check', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
  for (const [name, value] of Object.entries(extra)) query.set(name, value);
  const page = await requestForCheck(withQuery(String(metadata['authorization_endpoint']), query));
  if (!('body' in page)) return [];
  const refusal = errorSentBack(page.location, redirectUri);
  if (refusal !== undefined)
    return [warning(`returns browsers with an error (${refusal})`, ADVICE[refusal] ?? ADVICE['unauthorized_client'])];
  if (page.status < 400) return [];
  const nextStep = `Register the redirect address ${redirectUri} for the client ${clientId} at the provider`;
  return [warning(`returns ${page.status} for our client and redirect address`, nextStep)];
}

const ADVICE: Readonly<Record<string, string>> & { unauthorized_client: string } = {
  unauthorized_client: 'Allow the authorization code flow for SIGN_IN_CLIENT_ID at the provider',
  invalid_scope: 'Remove unsupported scopes from SIGN_IN_SCOPE, or allow them for the client',
};

/** The error code in a redirect to our address; undefined for a sign-in page. */
function errorSentBack(location: string | undefined, redirectUri: string): string | undefined {
  if (location?.startsWith(`${redirectUri}?`) !== true) return undefined;
  const error = new URL(location).searchParams.get('error') ?? undefined;
  return error === undefined || /^[a-z_]{1,40}$/.test(error) ? error : 'an unknown error';
}

function withQuery(address: string, query: URLSearchParams): string {
  return `${address}${address.includes('?') ? '&' : '?'}${query.toString()}`;
}

function listOf(metadata: Metadata, field: string): string[] | undefined {
  const value = metadata[field];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}
