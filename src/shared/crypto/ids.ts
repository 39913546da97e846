import { createHmac, hash, timingSafeEqual, type KeyObject } from 'node:crypto';
import { freshBytes } from './random-pool.ts';

/** Lower-case hex SHA-256 over the parts. Each part is preceded by its length, so that different lists never collide. */
export function hashParts(...parts: string[]): string {
  let joined = '';
  for (const part of parts) joined += `${Buffer.byteLength(part)}:${part}`;
  return sha256Hex(joined);
}

/** Lower-case hex SHA-256 of one text. Issued secrets (tickets, codes, tokens) are stored only in this form. */
export function sha256Hex(text: string): string {
  // One-shot hash: a Hash object costs several times as much for texts as short as keys.
  return hash('sha256', text, 'hex');
}

/** A random url-safe token of `bytes` random bytes, base64url without padding. Defaults to 32 bytes. */
export function randomToken(bytes = 32): string {
  return freshBytes(bytes).toString('base64url');
}

/** Compares two secrets of any lengths in constant time (SECURITY.md constant-time: both sides are hashed first). */
export function sameSecret(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

/** HMAC-SHA-256 as a url-safe token of 43 characters. */
export function hmacBase64Url(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** Lower-case hex HMAC-SHA-256. */
export function hmacHex(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
