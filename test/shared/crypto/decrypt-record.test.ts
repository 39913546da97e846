import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { recordWith, tryOpen, tryOpenAs, tryOpenJson } from '../../../src/shared/crypto/decrypt-record.ts';

const [mine, others] = [new KeyRing([randomBytes(32)]), new KeyRing([randomBytes(32)])];
interface Named {
  name: string;
}
const named = recordWith<Named>('name');
const openedBy = (ring: KeyRing, owner: string, sealed: string) =>
  tryOpenJson(() => ring.open('p', owner, sealed), named);

test('a valid record is decrypted, and a missing key is reported by its id [sealed-records]', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (name, more) => {
      const sealed = mine.seal('p', 'o', JSON.stringify({ more, name }));
      expect(openedBy(mine, 'o', sealed)).toMatchObject({ kind: 'opened', value: { name } });
      expect(openedBy(others, 'o', sealed)).toMatchObject({ kind: 'key-lacking', keyId: mine.currentKeyId });
      expect(openedBy(mine, 'another', sealed)).toMatchObject({ kind: 'broken', error: { code: 'seal_broken' } });
    }),
  );
});

test('a record that is not JSON or not accepted by its reader is broken, and the error does not contain it [secrets-stay-inside]', () => {
  const misfits = fc.oneof(
    fc.string().map((text) => `secret ${text}`),
    fc.jsonValue().map((value) => JSON.stringify([value])),
    fc.constantFrom('', 'null', '{}', '{"name":7}', '{"name":"secret'),
  );
  fc.assert(
    fc.property(misfits, (plain) => {
      const opened = openedBy(mine, 'o', mine.seal('p', 'o', plain));
      expect(opened).toMatchObject({ kind: 'broken', error: { code: 'seal_broken' } });
      if (opened.kind === 'broken')
        expect(`${opened.error.message}${String(opened.error.cause)}`).not.toContain('secret');
    }),
  );
});

test('a text that is not encrypted is broken or has an unknown key, and causes no exception', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `s1.${text}`),
      ),
      (junk) => {
        expect(tryOpen(() => mine.open('p', 'o', junk)).kind).not.toBe('opened');
      },
    ),
  );
});

test('a text reader is supported, and any other error is passed to the caller', () => {
  const sealed = mine.seal('p', 'o', '7');
  const digit = (text: string) => (/^\d$/.test(text) ? Number(text) : undefined);
  expect(tryOpenAs(() => mine.open('p', 'o', sealed), digit)).toEqual({ kind: 'opened', value: 7 });
  expect(tryOpenAs(() => mine.open('p', 'o', mine.seal('p', 'o', 'x')), digit).kind).toBe('broken');
  const other = new RangeError('something else');
  expect(() =>
    tryOpen(() => {
      throw other;
    }),
  ).toThrow(other);
});
