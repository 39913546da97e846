import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { sameSecret } from '../../shared/crypto/ids.ts';
import { MessengerError } from '../messenger-error.ts';

const CIPHER = 'aes-256-cbc';
const KEY_BYTES = 32;
const IV_BYTES = 16;
const BLOCK_BYTES = 32;
const SALT_BYTES = 16;
const LENGTH_BYTES = 4;

/** Signed values: the four strings of a callback or of its response. */
export interface SignedParts {
  token: string;
  timestamp: string;
  nonce: string;
  encrypt: string;
}

/**
 * Decodes a 43-character EncodingAESKey to the 32-byte AES key. @throws MessengerError `crypto_broken` for any other length
 */
export function decodeAesKey(encodingAesKey: string): Buffer {
  const key = Buffer.from(`${encodingAesKey}=`, 'base64');
  if (key.length !== KEY_BYTES || encodingAesKey.length !== 43) {
    throw new MessengerError('crypto_broken', 'An EncodingAESKey has 43 characters and decodes to 32 bytes');
  }
  return key;
}

/** Lower-case hex SHA-1 over the four strings in byte order, joined without a separator. */
export function signParts({ token, timestamp, nonce, encrypt }: SignedParts): string {
  const sorted = [token, timestamp, nonce, encrypt].sort((left, right) =>
    Buffer.compare(Buffer.from(left), Buffer.from(right)),
  );
  return createHash('sha1').update(sorted.join('')).digest('hex');
}

/** Verifies a signature in constant time. Upper-case hex is rejected, as in the platform's own library. */
export function isSignedBy(parts: SignedParts, signature: string): boolean {
  return sameSecret(signParts(parts), signature);
}

/**
 * Encrypts one message: 16 random bytes, its length in bytes (4, big-endian), the message, the receiver's id; base64.
 * @param salt the 16 random bytes; only for reproducing a known result
 */
export function sealMessage(key: Buffer, message: string, receiveId = '', salt = randomBytes(SALT_BYTES)): string {
  const body = Buffer.from(message);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(body.length);
  return encryptPadded(key, Buffer.concat([salt, length, body, Buffer.from(receiveId)])).toString('base64');
}

/**
 * Decrypts the result of `sealMessage`; the caller must have verified the signature. @throws MessengerError `crypto_broken`
 */
export function openMessage(key: Buffer, encrypt: string, receiveId = ''): string {
  const plain = decryptPadded(key, Buffer.from(encrypt, 'base64'));
  if (plain.length < SALT_BYTES + LENGTH_BYTES) throw broken('too short');
  const lengthBytes = plain.readUInt32BE(SALT_BYTES);
  const start = SALT_BYTES + LENGTH_BYTES;
  if (lengthBytes > plain.length - start) throw broken('length out of bounds');
  if (plain.subarray(start + lengthBytes).toString('utf8') !== receiveId) throw broken('another receiver');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      plain.subarray(start, start + lengthBytes),
    );
  } catch {
    throw broken('not UTF-8');
  }
}

/** Encrypts a media file in the format of the platform's download addresses: only the bytes, padded to 32. */
export function sealMedia(key: Buffer, bytes: Buffer): Buffer {
  return encryptPadded(key, bytes);
}

/** Decrypts the result of `sealMedia`. @throws MessengerError `crypto_broken` */
export function openMedia(key: Buffer, sealed: Buffer): Buffer {
  return decryptPadded(key, sealed);
}

// The platform pads to 32 bytes but the cipher would pad to 16, so padding is added here.
function encryptPadded(key: Buffer, plain: Buffer): Buffer {
  const padBytes = BLOCK_BYTES - (plain.length % BLOCK_BYTES);
  const cipher = createCipheriv(CIPHER, key, key.subarray(0, IV_BYTES)).setAutoPadding(false);
  return Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(padBytes, padBytes)), cipher.final()]);
}

function decryptPadded(key: Buffer, sealed: Buffer): Buffer {
  if (sealed.length === 0 || sealed.length % BLOCK_BYTES !== 0) throw broken('not whole blocks');
  const decipher = createDecipheriv(CIPHER, key, key.subarray(0, IV_BYTES)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(sealed), decipher.final()]);
  const padBytes = padded[padded.length - 1] ?? 0;
  if (padBytes < 1 || padBytes > BLOCK_BYTES) throw broken('padding');
  const plain = padded.subarray(0, padded.length - padBytes);
  if (padded.subarray(plain.length).some((byte) => byte !== padBytes)) throw broken('padding');
  return plain;
}

function broken(what: string): MessengerError {
  return new MessengerError('crypto_broken', `A text cannot be decrypted (${what})`);
}
