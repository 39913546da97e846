import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { textOfUtf8 } from '../../../shared/text/utf8.ts';
import type { DeliveryHead, RawDelivery } from '../platform.ts';
import { decryptText, isSignatureOf, type AesKey } from './crypto.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export interface VerifyOptions {
  token: string;
  aesKey: AesKey;
}

interface Clock {
  /** Maximum difference between a delivery's time and our clock. Seconds. */
  windowSec: number;
  nowMs: NowMs;
}

/**
 * Result of verification. `undecryptable`: signed with the token but not decryptable; answered like any other signed but
 * unreadable delivery.
 */
export type VerificationResult =
  | { verdict: 'refused'; status: 400 | 401; reason: string }
  | { verdict: 'undecryptable' }
  | { verdict: 'opened'; plain: Buffer };

/** Spellings accepted by the official plug-in; a callback has exactly one of them, once. */
const SIGNATURE_NAMES = ['msg_signature', 'msgsignature', 'signature'];
const MAX_NONCE_CHARS = 128;
const SIGNATURE = /^[0-9a-f]{40}$/;

export interface SignatureFields {
  signature: string;
  timestamp: string;
  nonce: string;
}

/**
 * The signature and the signed fields except the encrypted text, or why they are refused whatever that text is. The fields
 * are signed in sorted order without separators, so time and nonce could be swapped: each must be valid only as itself.
 */
export function signatureFields({ query }: DeliveryHead, options: Clock): SignatureFields | { reason: string } {
  const signature = onlyValue(query, SIGNATURE_NAMES);
  const timestamp = onlyValue(query, ['timestamp']);
  const nonce = onlyValue(query, ['nonce']);
  if (signature === undefined || timestamp === undefined || nonce === undefined || nonce.length > MAX_NONCE_CHARS)
    return { reason: 'signature parameters missing or repeated' };
  if (!SIGNATURE.test(signature)) return { reason: 'malformed signature' };
  if (!isWithinWindow(timestamp, options)) return { reason: 'outside the time window' };
  if (isWithinWindow(nonce, options)) return { reason: 'a time in place of the nonce' };
  return { signature, timestamp, nonce };
}

/**
 * Verifies a delivery whose fields were accepted, in the order of SECURITY.md raw-bytes-only, verify-then-decrypt: the
 * encrypted text, then the signature in constant time, then the decryption. Without the token, a sender causes no work
 * beyond one hash.
 */
export function verifyDelivery(
  delivery: RawDelivery,
  fields: SignatureFields,
  options: VerifyOptions,
): VerificationResult {
  const encrypt = delivery.method === 'GET' ? sealedEcho(delivery.query) : sealedBody(delivery.body);
  if (encrypt === undefined) return { verdict: 'refused', status: 400, reason: 'no encrypted text' };

  const { signature, timestamp, nonce } = fields;
  if (!isSignatureOf(options.token, { timestamp, nonce, encrypt }, signature)) {
    return { verdict: 'refused', status: 401, reason: 'signature differs' };
  }
  try {
    return { verdict: 'opened', plain: decryptText(options.aesKey, encrypt) };
  } catch {
    return { verdict: 'undecryptable' };
  }
}

/** A time has exactly ten digits until the year 2286, so digits of an adjacent field cannot be counted as part of it. */
function isWithinWindow(time: string, { nowMs, windowSec }: Clock): boolean {
  const ageSec = Math.abs(nowMs() / SECOND_MS - (/^\d{10}$/.test(time) ? Number(time) : Number.NaN));
  return ageSec <= windowSec; // false for NaN
}

/** Base64 contains no spaces: a space is a plus sign that was not escaped in the query. */
function sealedEcho(query: URLSearchParams): string | undefined {
  return onlyValue(query, ['echostr'])?.replaceAll(' ', '+');
}

function sealedBody(body: Buffer): string | undefined {
  const outer = parseJson(textOfUtf8(body) ?? '');
  if (typeof outer !== 'object' || outer === null) return undefined;
  const sealed = 'encrypt' in outer ? outer.encrypt : 'Encrypt' in outer ? outer.Encrypt : undefined;
  return typeof sealed === 'string' && sealed !== '' ? sealed : undefined;
}

/** Value of a parameter that must occur exactly once, under one of its names. */
function onlyValue(query: URLSearchParams, names: string[]): string | undefined {
  let only: string | undefined;
  for (const name of names)
    for (const value of query.getAll(name)) {
      if (only !== undefined) return undefined;
      only = value;
    }
  return only === '' ? undefined : only;
}
