import type { Context } from 'koa';
import { sameSecret } from '../../shared/crypto/ids.ts';
import type { ServiceClient } from '../clients-file.ts';
import { OAuthError } from './sign-in-errors.ts';
import { field } from './token-form.ts';

interface Credentials {
  clientId: string;
  clientSecret: string;
}

/**
 * Authenticates the client of a token request: `client_id` and `client_secret` in the form, or HTTP Basic (RFC 6749 section
 * 2.3.1). A missing or wrong id or secret gives the same error, and a secret is compared even for an unknown id.
 * @throws OAuthError `invalid_client`, or `invalid_request` if both methods are used
 */
export function authenticateClient(ctx: Context, clients: ReadonlyMap<string, ServiceClient>): ServiceClient {
  const found = credentialsOf(ctx).map(({ clientId, clientSecret }) => {
    const client = clients.get(clientId);
    const isRight = sameSecret(clientSecret, client?.clientSecret ?? '');
    return isRight ? client : undefined;
  });
  const client = found.find((one) => one !== undefined);
  if (!client) throw new OAuthError('invalid_client', 'client_id or client_secret is wrong');
  return client;
}

/** All readings of the credentials; each is tried, because many clients send Basic without the form encoding. */
function credentialsOf(ctx: Context): Credentials[] {
  const clientId = field(ctx, 'client_id');
  const clientSecret = field(ctx, 'client_secret');
  const basic = readBasic(ctx.get('Authorization'));
  if (!basic) return [{ clientId: clientId ?? '', clientSecret: clientSecret ?? '' }];
  const isOther = clientId !== undefined && basic.every((one) => one.clientId !== clientId);
  if (clientSecret !== undefined || isOther)
    throw new OAuthError('invalid_request', 'The client credentials were sent twice, in the header and in the form');
  return basic;
}

/**
 * Id and secret as received, and with the form encoding decoded (RFC 6749 section 2.3.1). Credentials that cannot be decoded
 * match no client.
 */
function readBasic(header: string): Credentials[] | undefined {
  const encoded = /^Basic(?: +(\S*))?$/i.exec(header);
  if (!encoded) return undefined;
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded[1] ?? '', 'base64').toString()) ?? [];
  return [
    { clientId: decode(id), clientSecret: decode(secret) },
    { clientId: id, clientSecret: secret },
  ];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '';
  }
}
