import { SECOND_MS, type NowMs } from '../../../shared/clock.ts';
import { textOfUtf8 } from '../../../shared/text/utf8.ts';
import type { DeliveryHead, RawDelivery } from '../platform.ts';
import { decryptText, isSignatureOf } from './crypto.ts';

export interface VerifyOptions {
  token: string;
  aesKey: Buffer;
}

interface Clock {
  /** How far a delivery's time may lie from ours, either way. Seconds. */
  windowSec: number;
  nowMs: NowMs;
}

/**
 * What verification found. `undecryptable` was signed by somebody who knows the token, but does not open: it is
 * answered like any signed nonsense.
 */
export type Verified =
  | { verdict: 'refused'; status: 400 | 401; reason: string }
  | { verdict: 'undecryptable' }
  | { verdict: 'opened'; plain: Buffer };

/** The official plug-in takes all three spellings; a callback carries exactly one of them, once. */
const SIGNATURE_NAMES = ['msg_signature', 'msgsignature', 'signature'];
const MAX_NONCE_CHARS = 128;
const SIGNATURE = /^[0-9a-f]{40}$/;

export interface SignatureFields {
  signature: string;
  timestamp: string;
  nonce: string;
}

/**
 * The signature and what it covers beside the sealed text, or why they are refused whatever that text is. The fields are signed
 * sorted and without separators, so that time and nonce could change places: each must be what only it can be.
 */
export function signatureFields({ query }: DeliveryHead, options: Clock): SignatureFields | { reason: string } {
  const signature = onlyValue(query, SIGNATURE_NAMES);
  const timestamp = onlyValue(query, ['timestamp']);
  const nonce = onlyValue(query, ['nonce']);
  if (signature === undefined || timestamp === undefined || nonce === undefined || nonce.length > MAX_NONCE_CHARS)
    return { reason: 'signature parameters missing or repeated' };
  if (!SIGNATURE.test(signature)) return { reason: 'no signature' };
  if (!isWithinWindow(timestamp, options)) return { reason: 'outside the time window' };
  if (isWithinWindow(nonce, options)) return { reason: 'a time in place of the nonce' };
  return { signature, timestamp, nonce };
}

/**
 * Judges a delivery whose fields were taken, in the order of SECURITY.md raw-bytes-only, verify-then-decrypt: the sealed text, then the signature in constant
 * time, then the decryption. Nothing but a hash is computed for a sender who does not know the token.
 */
export function verifyDelivery(delivery: RawDelivery, fields: SignatureFields, options: VerifyOptions): Verified {
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

/** A time has ten digits until the year 2286, so that none of a neighbour's can be taken for its own. */
function isWithinWindow(time: string, { nowMs, windowSec }: Clock): boolean {
  const ageSec = Math.abs(nowMs() / SECOND_MS - (/^\d{10}$/.test(time) ? Number(time) : Number.NaN));
  return ageSec <= windowSec; // false for NaN
}

/** Base64 holds no spaces: one can only be a plus sign that was not escaped in the query. */
function sealedEcho(query: URLSearchParams): string | undefined {
  return onlyValue(query, ['echostr'])?.replaceAll(' ', '+');
}

function sealedBody(body: Buffer): string | undefined {
  try {
    const outer: unknown = JSON.parse(textOfUtf8(body) ?? '');
    if (typeof outer !== 'object' || outer === null) return undefined;
    const sealed = 'encrypt' in outer ? outer.encrypt : 'Encrypt' in outer ? outer.Encrypt : undefined;
    return typeof sealed === 'string' && sealed !== '' ? sealed : undefined;
  } catch {
    return undefined;
  }
}

/** The value of a parameter that must occur exactly once, under one of its names. */
function onlyValue(query: URLSearchParams, names: string[]): string | undefined {
  let only: string | undefined;
  for (const name of names)
    for (const value of query.getAll(name)) {
      if (only !== undefined) return undefined;
      only = value;
    }
  return only === '' ? undefined : only;
}
