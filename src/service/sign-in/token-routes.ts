import bodyParser from 'koa-bodyparser';
import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../base/coded-error.ts';
import { sameSecret } from '../../base/ids.ts';
import type { ServiceClient } from '../clients-file.ts';
import type { ServiceReport } from '../service-report.ts';
import type { Directory } from './directory.ts';
import type { Grants } from './grants.ts';
import { OAuthError, StoreError } from './sign-in-errors.ts';

export interface TokenRoutesOptions {
  clients: ReadonlyMap<string, ServiceClient>;
  directory: Directory;
  grants: Grants;
  accessTokenSec: number;
  report: ServiceReport;
}

/** The addresses that applications call: `/oauth2.0/accessToken` and `/oauth2.0/profile`. Errors are those of RFC 6749 and RFC 6750. */
export function tokenRoutes(options: TokenRoutesOptions): Middleware {
  const router = new Router();
  router.use(async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Pragma', 'no-cache');
    try {
      await next();
    } catch (thrown) {
      refuse(ctx, thrown, options.report);
    }
  });
  router.post('/oauth2.0/accessToken', parseForm, async (ctx) => {
    const client = requireClient(ctx, options.clients);
    switch (field(ctx, 'grant_type')) {
      case 'authorization_code':
        ctx.body = await exchangeCode(ctx, client, options);
        return;
      case 'refresh_token':
        ctx.body = await refreshToken(ctx, client, options);
        return;
      case undefined:
      default:
        throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
    }
  });
  router.get('/oauth2.0/profile', async (ctx) => {
    ctx.body = await readProfile(ctx, options);
  });
  return router.routes() as Middleware;
}

const parseForm: Middleware = bodyParser({
  enableTypes: ['form'],
  formLimit: '64kb',
  onerror() {
    throw new OAuthError('invalid_request', 'The body is not a form, or is too large');
  },
});

/** A missing or wrong id or secret is one and the same refusal, and the secret is compared even for an unknown id. */
function requireClient(ctx: Context, clients: ReadonlyMap<string, ServiceClient>): ServiceClient {
  required(ctx, 'grant_type');
  const client = clients.get(field(ctx, 'client_id') ?? '');
  const isRight = sameSecret(field(ctx, 'client_secret') ?? '', client?.clientSecret ?? '');
  if (!client || !isRight) throw new OAuthError('invalid_client', 'client_id or client_secret is wrong');
  return client;
}

async function exchangeCode(
  ctx: Context,
  client: ServiceClient,
  { grants, accessTokenSec, report }: TokenRoutesOptions,
): Promise<object> {
  const exchange = {
    code: required(ctx, 'code'),
    redirectUri: required(ctx, 'redirect_uri'),
    clientId: client.clientId,
    verifier: field(ctx, 'code_verifier'),
  };
  const { accessToken, refreshToken: refresh } = await grants.exchange(exchange);
  report.signInStep({ step: 'code-exchanged', clientId: client.clientId });
  return { access_token: accessToken, token_type: 'bearer', expires_in: accessTokenSec, refresh_token: refresh };
}

async function refreshToken(
  ctx: Context,
  client: ServiceClient,
  { grants, accessTokenSec, report }: TokenRoutesOptions,
): Promise<object> {
  const { accessToken, scope } = await grants.refresh(required(ctx, 'refresh_token'), client.clientId);
  report.signInStep({ step: 'token-refreshed', clientId: client.clientId });
  return { token_type: 'bearer', access_token: accessToken, expires_in: accessTokenSec, scope };
}

async function readProfile(ctx: Context, { grants, directory }: TokenRoutesOptions): Promise<object> {
  const token = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
  const grant = token === undefined ? undefined : await grants.findByAccessToken(token);
  const person = grant && directory.byUsername(grant.username);
  if (!grant || !person)
    throw new OAuthError('invalid_token', 'The access token is missing, unknown, expired or revoked');
  const { id, active, parentIdentityInfo, attributes } = person.profile;
  return { id, active, parentIdentityInfo, attributes, client_id: grant.clientId };
}

function field(ctx: Context, name: string): string | undefined {
  const value = (ctx.request.body as Record<string, unknown> | undefined)?.[name];
  if (value !== undefined && typeof value !== 'string') throw new OAuthError('invalid_request', `${name} occurs twice`);
  return value;
}

function required(ctx: Context, name: string): string {
  const value = field(ctx, name);
  if (value === undefined || value === '') throw new OAuthError('invalid_request', `${name} is required, form-encoded`);
  return value;
}

function refuse(ctx: Context, thrown: unknown, report: ServiceReport): void {
  const error = asOAuthError(thrown);
  if (error.status >= 500) report.failed('sign-in', asError(thrown));
  else report.signInStep({ step: 'refused', reason: error.code });
  ctx.status = error.status;
  if (error.status === 401) {
    const isBare = ctx.get('Authorization') === '';
    ctx.set(
      'WWW-Authenticate',
      error.code === 'invalid_token' && !isBare
        ? 'Bearer realm="sign-in", error="invalid_token"'
        : 'Bearer realm="sign-in"',
    );
  }
  if (error.status === 503) ctx.set('Retry-After', '5');
  ctx.body = { error: error.code, error_description: error.message };
}

function asOAuthError(thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  if (thrown instanceof StoreError)
    return new OAuthError('temporarily_unavailable', 'The sign-in service cannot reach its store');
  return new OAuthError('server_error', 'The sign-in service met an unexpected fault');
}
