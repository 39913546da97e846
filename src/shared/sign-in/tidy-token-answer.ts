import { readJsonObject, unwrapped } from './json-answer.ts';
import type { JsonObject } from '../parse-json.ts';

/**
 * Normalizes a token response where its meaning is clear: wrapped responses, null members, a scope as a list, non-numeric
 * lifetimes, and errors with status 200 or beside a challenge. Everything else is unchanged.
 */
export async function tidyTokenAnswer(response: Response): Promise<Response> {
  const text = await response.text();
  const { status } = response;
  const answer = readJsonObject(text);
  if (!answer) return new Response(text, { status, headers: { 'content-type': 'text/plain' } });
  const inner = unwrapped(answer, 'access_token');
  const error = answer['error'] ?? inner['error'];
  const isError = error !== undefined && error !== null && error !== '';
  const body = isError && typeof error === 'string' ? { error } : tidy(inner);
  return Response.json(body, { status: isError && status === 200 ? 400 : status });
}

function tidy(tokens: JsonObject): JsonObject {
  const { expires_in: expiresIn, scope, refresh_token: refreshToken, ...others } = tokens;
  const kept = Object.entries(others).filter(([, value]) => value !== null);
  return {
    ...Object.fromEntries(kept),
    expires_in: Number(expiresIn) > 0 && Number.isFinite(Number(expiresIn)) ? Number(expiresIn) : undefined,
    scope: Array.isArray(scope) ? scope.join(' ') : typeof scope === 'string' ? scope : undefined,
    refresh_token: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
  };
}
