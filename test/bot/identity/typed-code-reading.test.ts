import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { makeCode } from '../../../src/bot/identity/typed-code/make-code.ts';
import { readCodes } from '../../../src/bot/identity/typed-code/read-codes.ts';
import { tries } from '../../support/tries.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';

const keyRing = new KeyRing([Buffer.alloc(32, 7)]);
/** Generated codes for arbitrary cookies and tickets. */
const madeCode = fc
  .record({
    cookie: fc.stringMatching(/^[\w-]{43}$/),
    ticketHash: fc.stringMatching(/^[0-9a-f]{64}$/),
    serial: fc.nat(3),
  })
  .map((source) => makeCode(keyRing, source));
const oneOf = (...choices: string[]) => fc.constantFrom(...choices);
const fullWidth = (text: string) =>
  text.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

describe('generated codes [typed-code]', () => {
  test('have eight Crockford base 32 symbols with a letter and a digit, and depend on their source only', () => {
    fc.assert(
      fc.property(madeCode, (code) => {
        expect(code).toMatch(/^(?=.*[A-Z])(?=.*\d)[0-9A-HJKMNP-TV-Z]{8}$/);
      }),
    );
    const source = { cookie: 'c', ticketHash: 't', serial: 1 };
    expect(makeCode(keyRing, source)).toBe(makeCode(keyRing, source));
  });

  test('differ by cookie, ticket, serial and key', () => {
    const source = { cookie: 'c', ticketHash: 't', serial: 1 };
    const others = [{ cookie: 'd' }, { ticketHash: 'u' }, { serial: 2 }].map((change) =>
      makeCode(keyRing, { ...source, ...change }),
    );
    others.push(makeCode(new KeyRing([Buffer.alloc(32, 8)]), source), makeCode(keyRing, source));
    expect(new Set(others).size).toBe(5);
  });

  test('use every symbol about equally often at every position', () => {
    const counts = new Map<string, number>();
    for (let serial = 0; serial < 4_000; serial += 1) {
      [...makeCode(keyRing, { cookie: 'c', ticketHash: 't', serial })].forEach((symbol, place) => {
        counts.set(`${place}${symbol}`, (counts.get(`${place}${symbol}`) ?? 0) + 1);
      });
    }
    expect(counts.size).toBe(8 * 32);
    // 125 expected, with a standard deviation of 11.
    for (const count of counts.values()) expect(Math.abs(count - 125)).toBeLessThan(60);
  });
});

describe('reading codes [typed-code]', () => {
  test('accepts every way in which people may type a generated code', () => {
    const written = fc
      .record({
        code: madeCode,
        between: oneOf('-', '', ' ', ' - ', '–', '—', '−', '_', '‐'),
        around: fc.tuple(oneOf('', ' ', '"', '**', '「', '\n'), oneOf('', ' ', '"', '**', '」', '。', '.')),
        width: oneOf('half', 'full'),
        letters: fc.func(fc.boolean()),
        confuse: fc.boolean(),
      })
      .map(({ code, between, around, width, letters, confuse }) => {
        const cased = [...code].map((symbol, index) => (letters(index) ? symbol.toLowerCase() : symbol)).join('');
        const mistaken = confuse ? cased.replace(/0/g, 'o').replace(/1/g, 'L') : cased;
        const text = `${around[0]}${mistaken.slice(0, 4)}${between}${mistaken.slice(4)}${around[1]}`;
        return { code, text: width === 'full' ? fullWidth(text) : text };
      });
    fc.assert(
      fc.property(written, ({ code, text }) => {
        expect(readCodes(text)).toMatchObject([{ code, isWhole: true }]);
      }),
      { numRuns: tries(500) },
    );
  });

  test('finds a generated code in a sentence, as shown or without its dash', () => {
    const sentence = fc.record({
      code: madeCode,
      before: oneOf('my code is ', '验证码是', 'see: ', '('),
      dash: oneOf('-', ''),
      after: oneOf('', ', right?', '，对吗', ')'),
    });
    fc.assert(
      fc.property(sentence, ({ code, before, dash, after }) => {
        const text = `${before}${code.slice(0, 4)}${dash}${code.slice(4)}${after} and a few more words of no meaning at all`;
        expect(readCodes(text).map((read) => read.code)).toEqual([code]);
      }),
    );
  });

  test('returns at most five codes of eight symbols, and the same for each code read again', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[0-9A-Za-z -]{0,60}$/)),
        (text) => {
          const codes = readCodes(text);
          expect(codes.length).toBeLessThanOrEqual(5);
          for (const { code } of codes) {
            expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
            expect(readCodes(code).map((again) => again.code)).toEqual([code]);
          }
        },
      ),
      { numRuns: tries(1_000) },
    );
  });

  test('returns at most five codes per message', () => {
    expect(readCodes('A1B2-C3D4, '.repeat(20))).toHaveLength(5);
  });

  test('takes time linear in the length of the text', () => {
    const spentMs = measureProcessorTime();
    for (const piece of ['A', 'A1B2-', 'AAAA ', '-', 'A1B2-C3D4-', 'a1b2 -']) readCodes(piece.repeat(20_000));
    expect(spentMs()).toBeLessThan(1_000);
  });

  test.each([
    ['exactly as shown', '7K3M-9QXP', 'shown'],
    ['small letters with a dash', '7k3m-9qxp', 'shown'],
    ['no dash', '7K3M9QXP', 'mixed'],
    ['spelt out', '7 K 3 M 9 Q X P', 'mixed'],
    ['a word', 'remember', 'plain'],
    ['a date', '20240131', 'plain'],
  ])('%s: %s is %s', (_what, text, look) => {
    expect(readCodes(text)).toMatchObject([{ look, isWhole: true }]);
  });

  test.each([
    ['', 'nothing'],
    ['hello', 'too short'],
    ['7K3M-9QX', 'seven'],
    ['7K3M-9QXPA', 'nine'],
    ['7U3M-9QXP', 'a U, which no code has'],
    ['550e8400-e29b-41d4-a716-446655440000', 'a UUID'],
    ['all is ok so', 'words'],
    ['he said so', 'words that are eight letters together'],
    ['a long-term plan for real-time work', 'words with dashes'],
    ['please count to 5', 'a question'],
    ['file_A1B2C3D4_x', 'a piece of a name'],
  ])('finds no code in %j: %s', (text) => {
    expect(readCodes(text)).toEqual([]);
  });
});
