import { createCipheriv, createDecipheriv, createSecretKey, hash, timingSafeEqual, type KeyObject } from 'node:crypto';
import { freshBytes } from '../../../shared/crypto/random-pool.ts';
import { PlatformError } from '../platform-error.ts';

const CIPHER = 'aes-256-cbc';
const KEY_BYTES = 32;
const IV_BYTES = 16;
const RANDOM_BYTES = 16;
const LENGTH_BYTES = 4;
/** WeCom pads to 32 bytes, twice the cipher's block size, so the cipher's own padding is disabled. */
const PAD_BLOCK_BYTES = 32;

/** A key of 32 bytes; WeCom uses its first half as the initialisation vector. */
export interface AesKey {
  key: KeyObject;
  iv: Buffer;
}

/** @param bytes 32 bytes */
export function aesKeyOf(bytes: Buffer): AesKey {
  return { key: createSecretKey(bytes), iv: bytes.subarray(0, IV_BYTES) };
}

/** Parses an EncodingAESKey: 43 base64 characters for 32 bytes. @throws PlatformError `bad_setting` */
export function readAesKey(encodingAesKey: string): AesKey {
  const key = Buffer.from(encodingAesKey, 'base64');
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(encodingAesKey) || key.length !== KEY_BYTES) {
    throw new PlatformError('bad_setting', 'An EncodingAESKey has 43 letters and digits');
  }
  return aesKeyOf(key);
}

/** Signature of a callback or an answer: SHA-1 over the four texts, sorted bytewise and concatenated, in lower-case hex. */
export function signText(token: string, { timestamp, nonce, encrypt }: SignedFields): string {
  const sorted = [token, timestamp, nonce, encrypt].map((text) => Buffer.from(text)).sort(Buffer.compare);
  return hash('sha1', Buffer.concat(sorted), 'hex');
}

/** Whether a signature matches these fields, in constant time. @param signature 40 lower-case hex digits */
export function isSignatureOf(token: string, fields: SignedFields, signature: string): boolean {
  return timingSafeEqual(Buffer.from(signature, 'hex'), Buffer.from(signText(token, fields), 'hex'));
}

export interface SignedFields {
  timestamp: string;
  nonce: string;
  encrypt: string;
}

interface EncryptOptions {
  /** Empty for an AI bot of the deployment's own company. */
  receiveId?: string;
  /** 16 random bytes; set only to reproduce a known ciphertext. */
  random?: Buffer;
}

/** Encrypts a text in WeCom's format: random bytes, byte length, text, receiver; padded; base64. */
export function encryptText(aesKey: AesKey, text: string, { receiveId = '', random }: EncryptOptions = {}): string {
  const message = Buffer.from(text);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  const framed = Buffer.concat([random ?? freshBytes(RANDOM_BYTES), length, message, Buffer.from(receiveId)]);
  return encryptPadded(aesKey, framed).toString('base64');
}

/**
 * Decrypts the result of `encryptText`. Every check is strict, and every fault gives the same error, so that the error
 * reveals nothing (SECURITY.md verify-then-decrypt). The cipher has no integrity protection: verify the signature first.
 * @throws PlatformError `undecryptable`
 */
export function decryptText(aesKey: AesKey, encrypt: string, receiveId = ''): Buffer {
  const sealed = Buffer.from(encrypt, 'base64');
  if (sealed.toString('base64') !== encrypt) throw undecryptable();
  const framed = decryptPadded(aesKey, sealed);
  if (framed.length < RANDOM_BYTES + LENGTH_BYTES) throw undecryptable();
  const start = RANDOM_BYTES + LENGTH_BYTES;
  const end = start + framed.readUInt32BE(RANDOM_BYTES);
  if (end > framed.length || !framed.subarray(end).equals(Buffer.from(receiveId))) throw undecryptable();
  return framed.subarray(start, end);
}

/** Encrypts bytes with the key, as the platform does with media. */
export function encryptPadded({ key, iv }: AesKey, plain: Buffer): Buffer {
  const padBytes = PAD_BLOCK_BYTES - (plain.length % PAD_BLOCK_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv).setAutoPadding(false);
  return Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(padBytes, padBytes)), cipher.final()]);
}

/** Decrypts the result of `encryptPadded` and checks the whole padding. @throws PlatformError `undecryptable` */
export function decryptPadded({ key, iv }: AesKey, sealed: Buffer): Buffer {
  if (sealed.length === 0 || sealed.length % PAD_BLOCK_BYTES !== 0) throw undecryptable();
  const decipher = createDecipheriv(CIPHER, key, iv).setAutoPadding(false);
  // With its own padding disabled, the cipher returns all bytes here, so that a file is not copied again.
  const padded = decipher.update(sealed);
  const padBytes = padded.at(-1) ?? 0;
  const padding = padded.subarray(padded.length - padBytes);
  const isPadded = padBytes >= 1 && padBytes <= PAD_BLOCK_BYTES && padding.every((byte) => byte === padBytes);
  if (!isPadded) throw undecryptable();
  return padded.subarray(0, padded.length - padBytes);
}

function undecryptable(): PlatformError {
  return new PlatformError('undecryptable', 'An encrypted text cannot be decrypted');
}
