import type { Context, Middleware } from 'koa';
import { formParser } from './parse-form.ts';
import { OAuthError } from './sign-in-errors.ts';

/** The form fields that the token address reads; others are ignored (RFC 6749 section 3.2). */
const FIELDS = [
  'grant_type',
  'client_id',
  'client_secret',
  'redirect_uri',
  'code',
  'code_verifier',
  'refresh_token',
] as const;
type Field = (typeof FIELDS)[number];

const MAX_FIELD_CHARS = 4_096;

const parseBody = formParser(() => {
  throw new OAuthError('invalid_request', 'The body is not a form, or is too large');
});

/**
 * Reads the form. A field in the address is refused, since addresses end up in logs (RFC 6749 section 2.3.1); so is one that
 * occurs twice (section 3.2).
 * @throws OAuthError `invalid_request`
 */
export const parseTokenForm: Middleware = async (ctx, next) => {
  if (FIELDS.some((name) => name in ctx.query))
    throw new OAuthError('invalid_request', 'Fields belong in the body, form-encoded, never in the address');
  await parseBody(ctx, () => Promise.resolve());
  for (const name of FIELDS) {
    const value = (ctx.request.body as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} occurs twice`);
    if (value.length > MAX_FIELD_CHARS) throw new OAuthError('invalid_request', `${name} is too long`);
  }
  await next();
};

/** A field of the form that `parseTokenForm` read; one without a value counts as left out (RFC 6749 section 3.2). */
export function field(ctx: Context, name: Field): string | undefined {
  const value = (ctx.request.body as Partial<Record<Field, string>>)[name];
  return value === '' ? undefined : value;
}

/** @throws OAuthError `invalid_request` when it is left out */
export function required(ctx: Context, name: Field): string {
  const value = field(ctx, name);
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is required, form-encoded`);
  return value;
}
