import { unwrapped } from './json-answer.ts';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';
import type { JsonObject } from '../parse-json.ts';

interface UserInfoRules {
  subject: string;
  /** Required issuer and audience of a signed response; absent for plain JSON, which has neither. */
  signed?: { issuer: string; clientId: string };
}

/** Whether the userinfo response is a token (OpenID Connect Core section 5.3.2), regardless of its content type. */
export function isToken(body: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*(?:\.[\w-]+){0,2}$/.test(body.trim());
}

/** Claims of a userinfo response, only for this subject. @throws ProviderError `failed`, with the reason */
export function readUserInfo(answer: JsonObject | undefined, { subject, signed }: UserInfoRules): Claims {
  if (!answer) throw new ProviderError('failed', 'The OIDC userinfo address answered with neither JSON nor a token');
  const claims = unwrapped(answer, 'sub');
  const { iss, aud } = claims;
  const sub = Number.isSafeInteger(claims['sub']) ? String(claims['sub']) : claims['sub'];
  if (sub !== subject) throw new ProviderError('failed', 'The OIDC userinfo address names another subject');
  if (signed && iss !== undefined && iss !== signed.issuer) throw mismatch('iss');
  if (signed && aud !== undefined && ![aud].flat().includes(signed.clientId)) throw mismatch('aud');
  return { ...claims, sub };
}

function mismatch(claim: string): ProviderError {
  return new ProviderError('failed', `The OIDC userinfo address answered with another "${claim}" than expected`);
}
