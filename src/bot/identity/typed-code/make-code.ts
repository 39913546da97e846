import { hmacHex } from '../../../shared/crypto/ids.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';

/** Crockford's base 32: without I, L, O and U, which are misread or make words. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_BITS = 40;
const SYMBOL_BITS = 5;
const CODE_PURPOSE = 'typed-code';
const MAC_PURPOSE = 'typed-code-mac';

/** What a code is made of. */
export interface CodeSource {
  /** The value of the browser's cookie, of which we keep the hash only. */
  cookie: string;
  ticketHash: string;
  /** Counts the codes of one ticket, from 1. */
  serial: number;
}

/**
 * The code that a browser is shown for its ticket (SECURITY.md typed-code): 40 bits, eight symbols. It is derived from
 * the cookie's 256 random bits, so that the same browser can be shown it again although we keep no copy of it, not even
 * a sealed one; without the cookie nobody can make it, whatever they read in Redis.
 */
export function makeCode(keyRing: KeyRing, source: CodeSource): string {
  return codeUnder(keyRing.deriveKey(CODE_PURPOSE), source);
}

/** The same code as each key of the ring makes it, the newest first: one that was shown before a change of keys still counts. */
export function makeCodes(keyRing: KeyRing, source: CodeSource): string[] {
  return keyRing.deriveKeys(CODE_PURPOSE).map((key) => codeUnder(key, source));
}

function codeUnder(key: Buffer, { cookie, ticketHash, serial }: CodeSource): string {
  for (let round = 0; ; round += 1) {
    const digest = hmacHex(key, `${cookie.length}:${cookie}|${ticketHash}|${serial}|${round}`);
    const code = inSymbols(digest.slice(0, CODE_BITS / 4));
    // One in twenty has no digit or no letter; without those nobody's words or numbers can be a code, at 0.1 bit's cost.
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

/** What is stored of a code. The same for every ticket, so that a code that turns up elsewhere is found by it. */
export function macOfCode(keyRing: KeyRing, code: string): string {
  return hmacHex(keyRing.deriveKey(MAC_PURPOSE), code);
}

/** What each key of the ring would have stored of a code, the newest first. */
export function macsOfCode(keyRing: KeyRing, code: string): string[] {
  return keyRing.deriveKeys(MAC_PURPOSE).map((key) => hmacHex(key, code));
}
