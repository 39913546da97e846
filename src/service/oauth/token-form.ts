import type { Context, Middleware } from 'koa';
import { formParser } from './parse-form.ts';
import { OAuthError } from './sign-in-errors.ts';

/** Form fields of the token endpoint; others are ignored (RFC 6749 section 3.2). */
const FIELDS = [
  'grant_type',
  'client_id',
  'client_secret',
  'redirect_uri',
  'code',
  'code_verifier',
  'refresh_token',
  'token',
  'token_type_hint',
] as const;
type Field = (typeof FIELDS)[number];

const MAX_FIELD_CHARS = 4_096;

const parseBody = formParser(() => {
  throw new OAuthError('invalid_request', 'The body is not form-encoded or is too large');
});

/**
 * Parses the form. A field in the URL is rejected, because URLs are logged (RFC 6749 section 2.3.1), and so is a repeated
 * field (section 3.2).
 * @throws OAuthError `invalid_request`
 */
export const parseTokenForm: Middleware = async (ctx, next) => {
  if (FIELDS.some((name) => name in ctx.query))
    throw new OAuthError('invalid_request', 'Send the fields form-encoded in the body, not in the address');
  await parseBody(ctx, () => Promise.resolve());
  for (const name of FIELDS) {
    const value = (ctx.request.body as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} occurs twice`);
    if (value.length > MAX_FIELD_CHARS) throw new OAuthError('invalid_request', `${name} is too long`);
  }
  await next();
};

/** A field of the form from `parseTokenForm`; a field without a value counts as omitted (RFC 6749 section 3.2). */
export function field(ctx: Context, name: Field): string | undefined {
  const value = (ctx.request.body as Partial<Record<Field, string>>)[name];
  return value === '' ? undefined : value;
}

/** @throws OAuthError `invalid_request` if it is omitted */
export function required(ctx: Context, name: Field): string {
  const value = field(ctx, name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is required, form-encoded`);
  return value;
}
