import type { KeyObject } from 'node:crypto';
import { hmacHex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';

/** Crockford's base 32, without I, L, O and U, which are easily misread or form words. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_BITS = 40;
const SYMBOL_BITS = 5;
const CODE_PURPOSE = 'typed-code';
const MAC_PURPOSE = 'typed-code-mac';

/** The inputs of a code. */
export interface CodeSource {
  /** Value of the browser cookie, of which only the hash is stored. */
  cookie: string;
  ticketHash: string;
  /** Number of the code within its invitation, from 1. */
  serial: number;
}

/**
 * Computes the code that a browser shows for an invitation (SECURITY.md typed-code): 40 bits, eight symbols. It is derived
 * from the cookie's 256 random bits, so that the same browser can be shown it again without any stored copy. Nobody can
 * compute it from the data in Redis.
 */
export function makeCode(keyRing: KeyRing, source: CodeSource): string {
  return codeUnder(keyRing.deriveKey(CODE_PURPOSE), source);
}

/** The code under each key of the ring, newest first, so that a code shown before a key rotation remains valid. */
export function makeCodes(keyRing: KeyRing, source: CodeSource): string[] {
  return keyRing.deriveKeys(CODE_PURPOSE).map((key) => codeUnder(key, source));
}

function codeUnder(key: KeyObject, { cookie, ticketHash, serial }: CodeSource): string {
  for (let round = 0; ; round += 1) {
    const digest = hmacHex(key, `${cookie.length}:${cookie}|${ticketHash}|${serial}|${round}`);
    const code = inSymbols(digest.slice(0, CODE_BITS / 4));
    // About one code in twenty has only letters or only digits. Skipping these costs 0.1 bit and keeps ordinary words and
    // numbers from being valid codes.
    if (/[A-Z]/.test(code) && /[0-9]/.test(code)) return code;
  }
}

function inSymbols(hex: string): string {
  let bits = BigInt(`0x${hex}`);
  let code = '';
  for (let length = 0; length < CODE_BITS / SYMBOL_BITS; length += 1) {
    code = (ALPHABET[Number(bits & 31n)] ?? '') + code;
    bits >>= BigInt(SYMBOL_BITS);
  }
  return code;
}

/**
 * The stored HMAC of a code. Independent of the invitation, so that a code typed elsewhere can be traced to its invitation.
 */
export function macOfCode(keyRing: KeyRing, code: string): string {
  return hmacHex(keyRing.deriveKey(MAC_PURPOSE), code);
}

/** The stored HMAC under each key of the ring, newest first. */
export function macsOfCode(keyRing: KeyRing, code: string): string[] {
  return keyRing.deriveKeys(MAC_PURPOSE).map((key) => hmacHex(key, code));
}
