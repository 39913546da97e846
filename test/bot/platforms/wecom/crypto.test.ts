import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  aesKeyOf,
  decryptPadded,
  decryptText,
  encryptPadded,
  encryptText,
  readAesKey,
  signText,
} from '../../../../src/bot/platforms/wecom/crypto.ts';
import { AES_KEY } from './support.ts';
import { anyText } from '../../../support/any-text.ts';

interface CryptoCase {
  name: string;
  token: string;
  encodingAesKey: string;
  receiveid: string;
  randomHex?: string;
  randomUtf8?: string;
  timestamp: string;
  nonce: string;
  encrypt: string;
  msgSignature: string;
  plaintext: string;
}

interface Negative {
  name: string;
  encrypt: string;
  encodingAesKey: string;
  msgSignature: string;
}

const vectors = readVectors('wecom-crypto.json') as {
  aesKeyHex: string;
  platformSamples: CryptoCase[];
  cases: CryptoCase[];
  negatives: Negative[];
};
const media = readVectors('wecom-media.json') as {
  encodingAesKey: string;
  cases: { name: string; plainHex: string; encryptedBase64: string }[];
};

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8'));
}

function negative(name: string): Negative {
  const found = vectors.negatives.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no vector ${name}`);
  return found;
}

describe('published WeCom crypto vectors', () => {
  test.each([...vectors.platformSamples, ...vectors.cases])('decrypt, encrypt and sign: $name', (sample) => {
    const key = readAesKey(sample.encodingAesKey);
    const random = sample.randomHex ? Buffer.from(sample.randomHex, 'hex') : Buffer.from(sample.randomUtf8 ?? '');
    expect(decryptText(key, sample.encrypt, sample.receiveid).toString()).toBe(sample.plaintext);
    expect(encryptText(key, sample.plaintext, { receiveId: sample.receiveid, random })).toBe(sample.encrypt);
    expect(signText(sample.token, sample)).toBe(sample.msgSignature);
  });

  test('read the key as the 32 bytes of its 43 base64 characters and refuse a short key', () => {
    expect(AES_KEY.key.export().toString('hex')).toBe(vectors.aesKeyHex);
    expect(() => readAesKey(negative('short-key').encodingAesKey)).toThrow(
      expect.objectContaining({ code: 'bad_setting' }),
    );
  });

  test('fail with one error for another receiver, altered bytes and a wrong length', () => {
    const one = expect.objectContaining({ code: 'undecryptable', message: 'An encrypted text cannot be decrypted' });
    const mismatch = negative('receiveid-mismatch').encrypt;
    expect(() => decryptText(AES_KEY, mismatch, 'ww-other')).toThrow(one);
    expect(() => decryptText(AES_KEY, mismatch)).toThrow(one);
    expect(() => decryptText(AES_KEY, negative('tampered-last-byte').encrypt)).toThrow(one);
    expect(() => decryptText(AES_KEY, Buffer.alloc(40).toString('base64'))).toThrow(one);
    expect(() => decryptText(AES_KEY, '')).toThrow(one);
    expect(() => decryptText(AES_KEY, 'not base64 at all!')).toThrow(one);
    expect(() => decryptText(AES_KEY, `${encryptText(AES_KEY, 'x')}\n`)).toThrow(one);
    expect(() => decryptText(AES_KEY, encryptPadded(AES_KEY, Buffer.alloc(7)).toString('base64'))).toThrow(one);
    const longLength = Buffer.concat([Buffer.alloc(16), Buffer.from([0, 0, 0, 9]), Buffer.from('8 bytes.')]);
    expect(() => decryptText(AES_KEY, encryptPadded(AES_KEY, longLength).toString('base64'))).toThrow(one);
  });
});

describe('WeCom media encryption', () => {
  test.each(media.cases)('matches the vector $name', ({ plainHex, encryptedBase64 }) => {
    const key = readAesKey(media.encodingAesKey);
    const sealed = Buffer.from(encryptedBase64, 'base64');
    expect(decryptPadded(key, sealed).toString('hex')).toBe(plainHex);
    expect(encryptPadded(key, Buffer.from(plainHex, 'hex')).equals(sealed)).toBe(true);
  });

  test('fails for an empty download and for another key', () => {
    const sealed = Buffer.from(media.cases.at(-2)?.encryptedBase64 ?? '', 'base64');
    expect(() => decryptPadded(AES_KEY, Buffer.alloc(0))).toThrow(expect.objectContaining({ code: 'undecryptable' }));
    expect(() => decryptPadded(aesKeyOf(Buffer.alloc(32, 7)), sealed)).toThrow(
      expect.objectContaining({ code: 'undecryptable' }),
    );
  });

  test('checks every padding byte', () => {
    const decrypted = Buffer.from('6e6f74207265616c6c79207061646465642c206f6e6c7920736f2d736f000003', 'hex');
    expect(decrypted.length).toBe(32);
    const sealed = encryptPadded(AES_KEY, decrypted).subarray(0, 32);
    expect(() => decryptPadded(AES_KEY, sealed)).toThrow(expect.objectContaining({ code: 'undecryptable' }));
  });
});

describe('WeCom encryption of any input', () => {
  test('is reversible', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), fc.stringMatching(/^\w{0,20}$/), (text, receiveId) => {
        const opened = decryptText(AES_KEY, encryptText(AES_KEY, text, { receiveId }), receiveId);
        expect(opened.equals(Buffer.from(text))).toBe(true);
      }),
    );
  });

  test('fails with the undecryptable error for random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 256 }), (bytes) => {
        let code: unknown = 'opened';
        try {
          decryptText(AES_KEY, Buffer.from(bytes).toString('base64'));
        } catch (error) {
          code = (error as { code?: unknown }).code;
        }
        expect(code).toBe('undecryptable');
      }),
    );
  });
});
