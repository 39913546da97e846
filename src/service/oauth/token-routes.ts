import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { asError } from '../../shared/coded-error.ts';
import type { ServiceClient } from '../clients-file.ts';
import type { ServiceReport } from '../service-report.ts';
import { authenticateClient } from './authenticate-client.ts';
import { DEFAULT_SCOPE } from './authorize-request.ts';
import type { Grants } from './grants.ts';
import type { People } from './people.ts';
import { OAuthError, StoreError } from './sign-in-errors.ts';
import { field, parseTokenForm, required } from './token-form.ts';

const TOKEN_PATH = '/oauth2.0/accessToken';
const PROFILE_PATH = '/oauth2.0/profile';
const REVOKE_PATH = '/oauth2.0/revoke';
const METADATA_PATH = '/.well-known/oauth-authorization-server';

export interface TokenRoutesOptions {
  clients: ReadonlyMap<string, ServiceClient>;
  people: People;
  grants: Grants;
  accessTokenSec: number;
  /** Public URL for browsers, without a trailing slash. */
  publicUrl: string;
  report: ServiceReport;
}

/**
 * Endpoints for applications: tokens, their revocation (RFC 7009), the profile, and the metadata (RFC 8414). Errors are those
 * of RFC 6749 and RFC 6750.
 */
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
  router.post(TOKEN_PATH, parseTokenForm, async (ctx) => {
    required(ctx, 'grant_type');
    const client = authenticateClient(ctx, options.clients);
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
  router.all(TOKEN_PATH, (ctx) => refuseMethod(ctx, 'POST'));
  router.post(REVOKE_PATH, parseTokenForm, async (ctx) => {
    const client = authenticateClient(ctx, options.clients);
    await options.grants.revoke(required(ctx, 'token'), client.clientId);
    options.report.signInStep({ step: 'token-revoked', clientId: client.clientId });
    ctx.body = {};
  });
  router.all(REVOKE_PATH, (ctx) => refuseMethod(ctx, 'POST'));
  router.get(METADATA_PATH, (ctx) => void (ctx.body = metadataOf(options.publicUrl)));
  router.all(METADATA_PATH, (ctx) => refuseMethod(ctx, 'GET, HEAD'));
  router.get(PROFILE_PATH, async (ctx) => {
    ctx.body = await readProfile(ctx, options);
  });
  router.all(PROFILE_PATH, (ctx) => refuseMethod(ctx, 'GET, HEAD'));
  return router.routes() as Middleware;
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
  const { accessToken, refreshToken: refresh, scope } = await grants.exchange(exchange);
  report.signInStep({ step: 'code-exchanged', clientId: client.clientId });
  return { access_token: accessToken, token_type: 'bearer', expires_in: accessTokenSec, refresh_token: refresh, scope };
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

/**
 * A token is accepted only in the header: one in the URL would be logged, and both at once are rejected (RFC 6750 section
 * 2).
 */
async function readProfile(ctx: Context, { grants, people, clients }: TokenRoutesOptions): Promise<object> {
  const token = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
  if (token !== undefined && 'access_token' in ctx.query)
    throw new OAuthError('invalid_request', 'The access token was sent twice, in the header and in the address');
  const grant = token === undefined ? undefined : await grants.findByAccessToken(token);
  const person = grant && clients.has(grant.clientId) ? await people.byUsername(grant.username) : undefined;
  if (!grant || !person)
    throw new OAuthError('invalid_token', 'The access token is missing, unknown, expired or revoked');
  const { id, active, parentIdentityInfo, attributes } = person.profile;
  return { id, sub: id, active, parentIdentityInfo, attributes, client_id: grant.clientId };
}

/** How clients find the addresses of the sign-in by themselves (RFC 8414 section 2). */
function metadataOf(issuer: string): object {
  const methods = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2.0/authorize`,
    token_endpoint: `${issuer}${TOKEN_PATH}`,
    revocation_endpoint: `${issuer}${REVOKE_PATH}`,
    userinfo_endpoint: `${issuer}${PROFILE_PATH}`,
    end_session_endpoint: `${issuer}/logout`,
    scopes_supported: [DEFAULT_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    code_challenge_methods_supported: ['S256'],
  };
}

function refuseMethod(ctx: Context, allowed: string): void {
  ctx.set('Allow', allowed);
  ctx.status = 405;
  ctx.body = { error: 'invalid_request', error_description: `Only ${allowed} is allowed here` };
}

function refuse(ctx: Context, thrown: unknown, report: ServiceReport): void {
  const error = asOAuthError(thrown);
  if (error.status >= 500) report.failed('sign-in', asError(thrown));
  else report.signInStep({ step: 'refused', reason: error.code });
  ctx.status = error.status;
  if (error.status === 401) ctx.set('WWW-Authenticate', challengeOf(error, ctx.get('Authorization') === ''));
  if (error.status === 503) ctx.set('Retry-After', '5');
  ctx.body = { error: error.code, error_description: error.message };
}

/** A request without any token gets no error code (RFC 6750 section 3.1). */
function challengeOf({ code }: OAuthError, isBare: boolean): string {
  if (code === 'invalid_client') return 'Basic realm="sign-in", charset="UTF-8"';
  return isBare ? 'Bearer realm="sign-in"' : 'Bearer realm="sign-in", error="invalid_token"';
}

function asOAuthError(thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  if (thrown instanceof StoreError)
    return new OAuthError('temporarily_unavailable', 'The sign-in service cannot reach its database');
  return new OAuthError('server_error', 'An unexpected error occurred in the sign-in service');
}
