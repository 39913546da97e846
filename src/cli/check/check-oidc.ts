import type { CheckResult } from '../../bot/platforms/platform.ts';
import { offeredMethod, type ClientAuthMethod } from '../../shared/sign-in/client-auth.ts';
import { readJsonObject } from '../../shared/sign-in/json-answer.ts';
import { discoveryAddress, isForEveryTenant, isSameIssuer } from '../../shared/sign-in/provider-metadata.ts';
import { PUBLIC_KEY_ALGORITHMS, signingAlgorithms } from '../../shared/sign-in/signing-keys.ts';
import { otherClientAuth, tryClientAuth } from './client-auth-tries.ts';
import { requestForCheck } from '../../shared/http/check-request.ts';

export interface OidcCheckOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
  clientAuth?: ClientAuthMethod;
  scope: string;
  redirectUri: string;
}

const NAME = 'Sign-in service';
const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

type Metadata = Readonly<Record<string, unknown>>;

/** What an OpenID Connect provider says of itself, held against our settings; then it is asked with our client. Nobody signs in. */
export async function checkOidc(options: OidcCheckOptions): Promise<CheckResult[]> {
  const { issuer } = options;
  const address = discoveryAddress(issuer);
  const answer = await requestForCheck(address);
  if ('code' in answer)
    return [
      fault(`cannot be reached (${answer.code})`, 'See that SIGN_IN_URL is right and that this machine reaches it'),
    ];
  const metadata = answer.status === 200 ? readJsonObject(answer.body) : undefined;
  if (!metadata) {
    const detail = `no OpenID Connect discovery is at ${address} (${answer.status})`;
    return [fault(detail, 'Set SIGN_IN_URL to the issuer, as the provider names it; or correct SIGN_IN_TYPE')];
  }
  const named = metadata['issuer'];
  if (isForEveryTenant(named))
    return [
      fault(
        'stands for every tenant: any account of any tenant could sign in',
        'Set SIGN_IN_URL to the issuer of your tenant (Entra ID: https://login.microsoftonline.com/TENANT-ID/v2.0)',
      ),
    ];
  if (!isSameIssuer(issuer, named)) {
    const detail =
      typeof named === 'string' ? `calls itself ${named}, and SIGN_IN_URL says ${issuer}` : 'names no issuer';
    return [fault(detail, 'Set SIGN_IN_URL to that name, letter by letter')];
  }
  const lacking = REQUIRED.filter((field) => typeof metadata[field] !== 'string');
  if (lacking.length > 0)
    return [
      fault(`its discovery lacks ${lacking.join(', ')}`, 'Ask who runs the provider: nobody can sign in without'),
    ];
  const found = [
    ...findings(metadata, options),
    ...(await ofKeys(metadata, options)),
    ...(await ofClient(metadata, options)),
  ];
  if (found.some(({ verdict }) => verdict === 'fault')) return found;
  return [
    { name: NAME, verdict: 'ok', detail: 'is an OpenID Connect provider that takes our client and address' },
    ...found,
  ];
}

/** What fits badly, from the discovery alone; a list that is not there says nothing. */
function findings(metadata: Metadata, { scope, clientSecret }: OidcCheckOptions): CheckResult[] {
  const lists = (field: string, word: string) => listOf(metadata, field)?.includes(word) ?? true;
  const found: CheckResult[] = [];
  const algorithms = listOf(metadata, 'id_token_signing_alg_values_supported');
  const { secret } = signingAlgorithms(algorithms, clientSecret);
  if (secret === undefined && algorithms?.every((name) => !PUBLIC_KEY_ALGORITHMS.includes(name)) === true)
    found.push(
      fault(
        'signs id tokens with no public key',
        'Let the provider sign them with RS256 or ES256; HS256 counts with a secret of at least 32 bytes',
      ),
    );
  if (!lists('response_types_supported', 'code'))
    found.push(fault('has no code flow', 'Let the provider allow the authorization code flow'));
  if (!lists('code_challenge_methods_supported', 'S256'))
    found.push(warning('does not list PKCE with S256', 'Switch PKCE on for this client, with S256'));
  const unknown = scope.split(' ').filter((one) => !lists('scopes_supported', one));
  if (unknown.length > 0)
    found.push(
      warning(`does not list the scope ${unknown.join(', ')}`, 'Take it out of SIGN_IN_SCOPE, or add it there'),
    );
  if (listOf(metadata, 'scopes_supported')?.includes('offline_access') && !scope.split(' ').includes('offline_access'))
    found.push(
      warning(
        'lists offline_access, which SIGN_IN_SCOPE does not ask for',
        'If it gives no refresh token without (Entra ID, Okta), add it: else people sign in again after 30 days and are not looked at daily',
      ),
    );
  if (typeof metadata['end_session_endpoint'] !== 'string')
    found.push(
      warning('has no sign-out address', 'After /unlink people stay signed in there; nothing to do if that is right'),
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
    fault('its keys cannot be read (jwks_uri)', 'Ask who runs the provider; id tokens cannot be checked without'),
  ];
}

/** A made-up code: who says that the code is wrong has taken client and secret. */
async function ofClient(metadata: Metadata, options: OidcCheckOptions): Promise<CheckResult[]> {
  const { clientId, clientSecret, clientAuth, redirectUri, scope } = options;
  const method = clientAuth ?? offeredMethod(listOf(metadata, 'token_endpoint_auth_methods_supported'));
  const address = { url: String(metadata['token_endpoint']), redirectUri };
  if ((await tryClientAuth(address, { clientId, clientSecret }, method)) === 'refused') {
    const other = await otherClientAuth(address, { clientId, clientSecret }, method);
    if (other) return [fault(`refuses our client by ${method}`, `Set SIGN_IN_CLIENT_AUTH=${other}, which it takes`)];
    return [
      fault('refuses our client', 'Correct SIGN_IN_CLIENT_ID and SIGN_IN_CLIENT_SECRET, as the provider gave them'),
    ];
  }
  const query = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope });
  const extra = { state: 'check', nonce: 'check', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
  for (const [name, value] of Object.entries(extra)) query.set(name, value);
  const page = await requestForCheck(withQuery(String(metadata['authorization_endpoint']), query));
  if (!('body' in page)) return [];
  const refusal = errorSentBack(page.location, redirectUri);
  if (refusal !== undefined)
    return [
      warning(`sends browsers back with an error (${refusal})`, ADVICE[refusal] ?? ADVICE['unauthorized_client']),
    ];
  if (page.status < 400) return [];
  const nextStep = `Register the redirect address ${redirectUri} for the client ${clientId}`;
  return [warning(`answers ${page.status} to our client and address`, nextStep)];
}

const ADVICE: Readonly<Record<string, string>> & { unauthorized_client: string } = {
  unauthorized_client: 'Let the provider allow the authorization code flow for SIGN_IN_CLIENT_ID',
  invalid_scope: 'Take out of SIGN_IN_SCOPE what the provider does not know, or allow it for the client',
};

/** The error code that a redirect to our address carries; a sign-in page asked for by nobody carries none. */
function errorSentBack(location: string | undefined, redirectUri: string): string | undefined {
  if (location?.startsWith(`${redirectUri}?`) !== true) return undefined;
  const error = new URL(location).searchParams.get('error') ?? undefined;
  return error === undefined || /^[a-z_]{1,40}$/.test(error) ? error : 'an unusual one';
}

function withQuery(address: string, query: URLSearchParams): string {
  return `${address}${address.includes('?') ? '&' : '?'}${query.toString()}`;
}

function listOf(metadata: Metadata, field: string): string[] | undefined {
  const value = metadata[field];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}

function fault(detail: string, nextStep: string): CheckResult {
  return { name: NAME, verdict: 'fault', detail, nextStep };
}

function warning(detail: string, nextStep: string): CheckResult {
  return { name: NAME, verdict: 'warning', detail, nextStep };
}
