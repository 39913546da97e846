import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keyIdOf, KeyRing, SealError } from '../../../src/shared/crypto/key-ring.ts';
import { tries } from '../../support/tries.ts';

const oldKey = randomBytes(32);
const newKey = randomBytes(32);
const ring = new KeyRing([oldKey]);

const anyText = fc.string({ unit: 'grapheme', maxLength: 80 });

/** Two kinds of encryption with one interface: conversation content and token records. */
const KINDS = [
  {
    name: 'content',
    seal: (keys: KeyRing, owner: string[], plain: string) => keys.seal(owner[0] ?? '', owner[1] ?? '', plain),
    open: (keys: KeyRing, owner: string[], sealed: string) => keys.open(owner[0] ?? '', owner[1] ?? '', sealed),
  },
  {
    name: 'record',
    seal: (keys: KeyRing, owner: string[], plain: string) => keys.sealRecord(owner, plain),
    open: (keys: KeyRing, owner: string[], sealed: string) => keys.openRecord(owner, sealed),
  },
];

describe.each(KINDS)('an encrypted $name [sealed-records]', ({ seal, open }) => {
  test('can be decrypted by its owner and reveals nothing', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (purpose, owner, plain) => {
        const sealed = seal(ring, [purpose, owner], plain);
        expect(open(ring, [purpose, owner], sealed)).toBe(plain);
        expect(sealed).toMatch(/^[\w.-]+$/);
      }),
    );
  });

  test('cannot be decrypted for another purpose or owner', () => {
    const anyOwner = fc.tuple(fc.constantFrom('a', 'b', 'a|b', ''), fc.constantFrom('a', 'b', 'b|a', '1:a', ''));
    fc.assert(
      fc.property(anyOwner, anyOwner, (owner, other) => {
        fc.pre(owner[0] !== other[0] || owner[1] !== other[1]);
        expect(() => open(ring, other, seal(ring, owner, 'x'))).toThrow(SealError);
      }),
      // Without their lengths, these two would be equal when joined.
      {
        examples: [
          [
            ['a|b', 'a'],
            ['a', 'b|a'],
          ],
        ],
      },
    );
  });

  test('cannot be decrypted after a change of a single bit', () => {
    const parts = seal(ring, ['p', 'o'], 'content').split('.');
    const bits = parts
      .slice(2)
      .flatMap((part, index) => [...Buffer.from(part, 'base64url').keys()].map((byte) => ({ part: index + 2, byte })));
    fc.assert(
      fc.property(fc.constantFrom(...bits), fc.nat(7), ({ part, byte }, bit) => {
        const changed = Buffer.from(parts[part] ?? '', 'base64url');
        changed[byte] = (changed[byte] ?? 0) ^ (1 << bit);
        const tampered = parts.with(part, changed.toString('base64url')).join('.');
        expect(() => open(ring, ['p', 'o'], tampered)).toThrow(expect.objectContaining({ code: 'seal_broken' }));
      }),
      { numRuns: tries(200) },
    );
  });

  test('gives a SealError for any other input', () => {
    const pieces = fc.constantFrom('s1', 'v1', ring.currentKeyId, 'AAAA', '', '.', '$');
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.array(pieces, { maxLength: 7 }).map((parts) => parts.join('.')),
        ),
        (junk) => {
          expect(() => open(ring, ['p', 'o'], junk)).toThrow(SealError);
        },
      ),
    );
  });

  test('is decrypted with an old key, encrypted with the newest, and reports a missing key [key-rotation]', () => {
    const rotated = new KeyRing([newKey, oldKey]);
    expect(open(rotated, ['p', 'o'], seal(ring, ['p', 'o'], 'before'))).toBe('before');
    const after = seal(rotated, ['p', 'o'], 'after');
    expect(after.split('.')[1]).toBe(rotated.currentKeyId);
    expect(rotated.currentKeyId).toBe(new KeyRing([newKey]).currentKeyId);
    expect(() => open(ring, ['p', 'o'], after)).toThrow(expect.objectContaining({ code: 'seal_unknown_key' }));
  });

  test('is different each time', () => {
    expect(seal(ring, ['p', 'o'], 'x')).not.toBe(seal(ring, ['p', 'o'], 'x'));
  });
});

test('a short authentication tag is refused', () => {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', ring.deriveKey('p'), iv, { authTagLength: 16 }).setAAD(
    Buffer.from('p|o'),
  );
  const body = Buffer.concat([iv, cipher.update('x'), cipher.final(), cipher.getAuthTag().subarray(0, 4)]);
  expect(() => ring.open('p', 'o', `s1.${ring.currentKeyId}.${body.toString('base64url')}`)).toThrow(SealError);
});

test('derived keys differ by purpose and are constant for each', () => {
  expect(ring.deriveKey('csrf').equals(ring.deriveKey('log'))).toBe(false);
  expect(ring.deriveKey('csrf').equals(new KeyRing([oldKey, newKey]).deriveKey('csrf'))).toBe(true);
});

describe('a record re-encrypted with the newest key [key-rotation]', () => {
  const rotated = new KeyRing([newKey, oldKey]);
  const newOnly = new KeyRing([newKey]);

  test('keeps its content and owner, and no longer needs the old key', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), anyText, (owner, plain) => {
        const sealed = ring.sealRecord(owner, plain);
        const rewrapped = rotated.rewrapRecord(owner, sealed);
        expect(keyIdOf(rewrapped)).toBe(newOnly.currentKeyId);
        expect(newOnly.openRecord(owner, rewrapped)).toBe(plain);
        expect(() => newOnly.openRecord([...owner, 'x'], rewrapped)).toThrow(SealError);
        expect(rotated.rewrapRecord(owner, rewrapped)).toBe(rewrapped);
      }),
    );
  });

  test('is refused for another owner, without its key, or for other input', () => {
    const sealed = ring.sealRecord(['p'], 'x');
    expect(() => rotated.rewrapRecord(['q'], sealed)).toThrow(expect.objectContaining({ code: 'seal_broken' }));
    expect(() => newOnly.rewrapRecord(['p'], sealed)).toThrow(expect.objectContaining({ code: 'seal_unknown_key' }));
    for (const junk of ['', 'v1', 's1.a.b', sealed.slice(3), `${sealed}.x`])
      expect(() => rotated.rewrapRecord(['p'], junk)).toThrow(SealError);
  });

  test('a signed form stays valid while its key is in the ring', () => {
    const keys = rotated.deriveKeys('csrf');
    expect(keys.map((key) => key.export().toString('hex'))).toEqual(
      [newOnly, ring].map((one) => one.deriveKey('csrf').export().toString('hex')),
    );
    expect(rotated.keyIds).toEqual([newOnly.currentKeyId, ring.currentKeyId]);
  });
});

test.each([[[]], [[randomBytes(31)]], [[randomBytes(32), randomBytes(33)]]])(
  'keys that are missing or not 32 bytes long are refused',
  (keys) => {
    expect(() => new KeyRing(keys)).toThrow(RangeError);
  },
);
