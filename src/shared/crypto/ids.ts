import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Lower-case hex SHA-256 over the parts, each preceded by its length so that no two lists of parts collide. */
export function hashParts(...parts: string[]): string {
  let joined = '';
  for (const part of parts) joined += `${Buffer.byteLength(part)}:${part}`;
  return sha256Hex(joined);
}

/** Lower-case hex SHA-256 of one text. Secrets handed out (tickets, codes, tokens) are stored only as this. */
export function sha256Hex(text: string): string {
  // In one call: a Hash object costs several times as much for texts as short as keys.
  return hash('sha256', text, 'hex');
}

/** A random url-safe token of `bytes` random bytes (32 unless told), base64url without padding. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/** Compares two secrets in constant time, whatever their lengths (SECURITY.md constant-time: both sides are hashed first). */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

/** HMAC-SHA-256 as a url-safe token of 43 characters. */
export function hmacBase64Url(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Lower-case hex HMAC-SHA-256. */
export function hmacHex(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
