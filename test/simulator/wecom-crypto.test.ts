import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeAesKey,
  isSignedBy,
  openMedia,
  openMessage,
  sealMedia,
  sealMessage,
  signParts,
} from '../../src/simulator/wecom/crypto.ts';
import { anyText } from '../support/any-text.ts';

interface CryptoCase {
  name: string;
  token: string;
  encodingAesKey: string;
  receiveid: string;
  randomUtf8?: string;
  randomHex?: string;
  timestamp: string;
  nonce: string;
  plaintext: string;
  encrypt: string;
  msgSignature: string;
}
interface CryptoVectors {
  platformSamples: CryptoCase[];
  cases: CryptoCase[];
  negatives: { name: string; encrypt?: string; msgSignature?: string; expectedReceiveid?: string }[];
}
interface MediaVectors {
  encodingAesKey: string;
  cases: { name: string; plainHex: string; encryptedBase64: string }[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../vectors/${name}`, import.meta.url), 'utf8'));
const vectors = read('wecom-crypto.json') as CryptoVectors;
const media = read('wecom-media.json') as MediaVectors;
const KEY = decodeAesKey('abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG');

describe("the platform's encryption vectors", () => {
  test.each([...vectors.platformSamples, ...vectors.cases])('$name', (sample) => {
    const key = decodeAesKey(sample.encodingAesKey);
    const salt = sample.randomHex ? Buffer.from(sample.randomHex, 'hex') : Buffer.from(sample.randomUtf8 ?? '');
    expect(sealMessage(key, sample.plaintext, sample.receiveid, salt)).toBe(sample.encrypt);
    expect(openMessage(key, sample.encrypt, sample.receiveid)).toBe(sample.plaintext);
    expect(signParts(sample)).toBe(sample.msgSignature);
    expect(isSignedBy(sample, sample.msgSignature)).toBe(true);
    expect(isSignedBy({ ...sample, token: 'other' }, sample.msgSignature)).toBe(false);
    expect(isSignedBy(sample, sample.msgSignature.toUpperCase())).toBe(false);
  });

  test('refuse another receiver, damaged blocks and a short key', () => {
    const mismatch = vectors.negatives.find((negative) => negative.name === 'receiveid-mismatch');
    expect(() => openMessage(KEY, mismatch?.encrypt ?? '', mismatch?.expectedReceiveid)).toThrow('another receiver');
    expect(() => openMessage(KEY, Buffer.alloc(33).toString('base64'))).toThrow('not whole blocks');
    expect(() => decodeAesKey('abcdefghijklmnopqrstuvwxyz0123456789ABCDEF')).toThrow('43 characters');
  });

  test.each(media.cases)('decrypt media: $name', ({ plainHex, encryptedBase64 }) => {
    const key = decodeAesKey(media.encodingAesKey);
    expect(sealMedia(key, Buffer.from(plainHex, 'hex')).toString('base64')).toBe(encryptedBase64);
    expect(openMedia(key, Buffer.from(encryptedBase64, 'base64')).toString('hex')).toBe(plainHex);
  });
});

describe('properties of the encryption', () => {
  test('include that an encrypted text decrypts to itself', () => {
    fc.assert(
      fc.property(anyText(), fc.string({ maxLength: 20 }), (text, receiver) => {
        expect(openMessage(KEY, sealMessage(KEY, text, receiver), receiver)).toBe(text);
      }),
    );
  });

  test('include that a change in any signed part is detected', () => {
    const part = fc.string({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        part,
        part,
        part,
        part,
        fc.constantFrom('token', 'timestamp', 'nonce', 'encrypt'),
        (token, timestamp, nonce, encrypt, altered) => {
          const parts = { token, timestamp, nonce, encrypt };
          const signature = signParts(parts);
          expect(isSignedBy({ ...parts, [altered]: `${parts[altered]}x` }, signature)).toBe(false);
        },
      ),
    );
  });

  test('include that changed bytes never decrypt to a longer text or throw an unexpected error', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (text, at, mask) => {
          const sealed = Buffer.from(sealMessage(KEY, text), 'base64');
          sealed[at % sealed.length] = (sealed[at % sealed.length] ?? 0) ^ mask;
          try {
            expect(openMessage(KEY, sealed.toString('base64')).length).toBeLessThanOrEqual(sealed.length);
          } catch (error) {
            expect(error).toMatchObject({ code: 'crypto_broken' });
          }
        },
      ),
    );
  });
});
