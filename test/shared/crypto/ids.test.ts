import { createSecretKey } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashParts, hmacHex, randomToken, sameSecret, sha256Hex } from '../../../src/shared/crypto/ids.ts';
import { tries } from '../../support/tries.ts';

const anyParts = fc.array(fc.constantFrom('', 'a', 'ab', 'b', '1:', '1:a', 'é', '|', ':'), { maxLength: 5 });

test('different lists of parts have different hashes', () => {
  fc.assert(
    fc.property(anyParts, anyParts, (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right);
      expect(hashParts(...left) === hashParts(...right)).toBe(isSame);
    }),
    { numRuns: tries(1_000) },
  );
  expect(hashParts('ab', 'c')).not.toBe(hashParts('a', 'bc'));
});

test('secrets are compared by value, for any lengths', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (left, right) => {
      expect(sameSecret(left, left)).toBe(true);
      expect(sameSecret(left, right)).toBe(left === right);
    }),
  );
});

test('hashes match the test vectors of the standards', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  // RFC 4231, test case 2.
  expect(hmacHex(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('tokens are URL-safe, of the requested size, and never repeated', () => {
  const tokens = Array.from({ length: 500 }, () => randomToken());
  expect(new Set(tokens).size).toBe(500);
  expect(tokens.every((token) => /^[\w-]{43}$/.test(token))).toBe(true);
  expect(randomToken(15)).toHaveLength(20);
});
