import type { Context } from 'koa';
import { sameSecret } from '../../base/ids.ts';
import type { ServiceClient } from '../clients-file.ts';
import { OAuthError } from './sign-in-errors.ts';
import { field } from './token-form.ts';

interface Credentials {
  clientId: string;
  clientSecret: string;
}

/**
 * The client that sent a token request: by `client_id` and `client_secret` in the form or by HTTP Basic
 * (RFC 6749 section 2.3.1). A missing or wrong id or secret is one and the same refusal, and the secret is compared even for
 * an unknown id.
 * @throws OAuthError `invalid_client`, or `invalid_request` when both ways are used
 */
export function authenticateClient(ctx: Context, clients: ReadonlyMap<string, ServiceClient>): ServiceClient {
  const { clientId, clientSecret } = credentialsOf(ctx);
  const client = clients.get(clientId);
  const isRight = sameSecret(clientSecret, client?.clientSecret ?? '');
  if (!client || !isRight) throw new OAuthError('invalid_client', 'client_id or client_secret is wrong');
  return client;
}

function credentialsOf(ctx: Context): Credentials {
  const clientId = field(ctx, 'client_id');
  const clientSecret = field(ctx, 'client_secret');
  const basic = readBasic(ctx.get('Authorization'));
  if (!basic) return { clientId: clientId ?? '', clientSecret: clientSecret ?? '' };
  if (clientSecret !== undefined || (clientId ?? basic.clientId) !== basic.clientId)
    throw new OAuthError('invalid_request', 'Client credentials came twice, in the header and in the form');
  return basic;
}

/** Id and secret are form-encoded before they are put together. What cannot be read fits no client. */
function readBasic(header: string): Credentials | undefined {
  const encoded = /^Basic(?: +(\S*))?$/i.exec(header);
  if (!encoded) return undefined;
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded[1] ?? '', 'base64').toString()) ?? [];
  return { clientId: decode(id), clientSecret: decode(secret) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '';
  }
}
