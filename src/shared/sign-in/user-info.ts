import { unwrapped, type JsonObject } from './json-answer.ts';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';

interface UserInfoRules {
  subject: string;
  /** Required issuer and audience of a signed answer; absent for plain JSON, which has neither. */
  signed?: { issuer: string; clientId: string };
}

/** Whether a user address answered with a token (OpenID Connect Core section 5.3.2), whatever its content type says. */
export function isToken(body: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*(?:\.[\w-]+){0,2}$/.test(body.trim());
}

/** The claims of a user address, of this subject alone. @throws ProviderError `failed`, with the reason */
export function readUserInfo(answer: JsonObject | undefined, { subject, signed }: UserInfoRules): Claims {
  if (!answer) throw new ProviderError('failed', 'The OIDC user address answered with neither JSON nor a token');
  const claims = unwrapped(answer, 'sub');
  const { iss, aud } = claims;
  const sub = Number.isSafeInteger(claims['sub']) ? String(claims['sub']) : claims['sub'];
  if (sub !== subject) throw new ProviderError('failed', 'The OIDC user address names another subject');
  if (signed && iss !== undefined && iss !== signed.issuer) throw mismatch('iss');
  if (signed && aud !== undefined && ![aud].flat().includes(signed.clientId)) throw mismatch('aud');
  return { ...claims, sub };
}

function mismatch(claim: string): ProviderError {
  return new ProviderError('failed', `The OIDC user address answered with another "${claim}" than expected`);
}
