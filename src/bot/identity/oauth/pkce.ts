import { createHash } from 'node:crypto';
import { randomToken } from '../../../shared/crypto/ids.ts';

/** A code verifier of 43 characters (RFC 7636 section 4.1). */
export function newCodeVerifier(): string {
  return randomToken(32);
}

/** The S256 challenge of a verifier (RFC 7636 section 4.2). */
export function codeChallengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
