import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maskId } from '../../../src/bot/identity/mask-id.ts';
import {
  csrfToken,
  isOwnForm,
  readBrowserCookie,
  readCallback,
  writeBrowserCookie,
} from '../../../src/bot/identity/browser/request-guards.ts';
import { isSamePerson } from '../../../src/bot/identity/id-matching.ts';
import { asAccountId } from '../../../src/bot/domain/ids.ts';

const cookieValue = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));

describe('the browser cookie', () => {
  test('is read back unchanged from among other cookies', () => {
    fc.assert(
      fc.property(cookieValue, (value) => {
        const pair = writeBrowserCookie(value).split(';')[0] ?? '';
        expect(readBrowserCookie(`a=b; ${pair}; c=d`)).toBe(value);
        expect(readBrowserCookie(`${pair}; ${pair}`)).toBeUndefined();
        expect(readBrowserCookie(pair.replace('__Host-', ''))).toBeUndefined();
        expect(readBrowserCookie(pair.slice(0, -1))).toBeUndefined();
      }),
    );
    expect(readBrowserCookie(undefined)).toBeUndefined();
  });
});

describe('form tokens', () => {
  const guard = {
    key: createSecretKey(randomBytes(32)),
    ticketHash: 'a'.repeat(64),
    publicOrigin: 'https://bot.example',
  };
  const post = (cookie: string) => ({
    cookie,
    token: csrfToken(guard.key, cookie, guard.ticketHash),
    origin: undefined,
    secFetchSite: undefined,
  });

  test('are valid for one cookie, ticket and key only', () => {
    fc.assert(
      fc.property(cookieValue, cookieValue, (cookie, other) => {
        const right = post(cookie);
        expect(isOwnForm(right, guard)).toBe(true);
        expect(isOwnForm({ ...right, cookie: other }, guard)).toBe(cookie === other);
        expect(isOwnForm(right, { ...guard, ticketHash: 'b'.repeat(64) })).toBe(false);
        expect(isOwnForm(right, { ...guard, key: createSecretKey(randomBytes(32)) })).toBe(false);
      }),
    );
  });

  test('are refused unless they are the exact string, whatever the other fields contain', () => {
    const right = post('c'.repeat(43));
    for (const token of [undefined, null, 7, [right.token], '', `${right.token} `])
      expect(isOwnForm({ ...right, token }, guard)).toBe(false);
    expect(isOwnForm({ ...right, cookie: undefined }, guard)).toBe(false);
    expect(isOwnForm({ ...right, origin: 'https://bot.example', secFetchSite: 'same-origin' }, guard)).toBe(true);
    for (const origin of ['https://bot.example.evil', 'http://bot.example', 'null', ''])
      expect(isOwnForm({ ...right, origin }, guard)).toBe(false);
    for (const secFetchSite of ['same-site', 'cross-site', 'none', ''])
      expect(isOwnForm({ ...right, secFetchSite }, guard)).toBe(false);
  });
});

describe('callback queries [plain-callbacks]', () => {
  test('yield code and state unchanged', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 100 }),
        fc.string({ minLength: 1, maxLength: 100 }),
        (code, state) => {
          expect(readCallback(new URLSearchParams({ code, state }).toString())).toEqual({
            code,
            state,
            isError: false,
            isDenied: false,
          });
        },
      ),
    );
  });

  test('are refused if any parameter is repeated', () => {
    fc.assert(
      fc.property(fc.constantFrom('code', 'state', 'error', 'other'), fc.string(), fc.string(), (name, one, two) => {
        const query = new URLSearchParams([
          ['code', 'x'],
          ['state', 'y'],
          [name, one],
          [name, two],
        ]);
        expect(readCallback(query.toString())).toBeUndefined();
      }),
    );
    for (const query of [
      '',
      'state=x',
      'code=',
      'code=x&state=',
      `code=${'x'.repeat(3_073)}`,
      `a=${'x'.repeat(5_000)}&code=x`,
    ]) {
      expect(readCallback(query)).toBeUndefined();
    }
    expect(readCallback('error=access_denied')).toEqual({ isError: true, isDenied: true });
  });
});

describe('the same-id rule [proof-of-person]', () => {
  const profile = {
    id: asAccountId('Ab01'),
    name: 'N',
    identityCode: '',
    department: '',
    departmentName: '',
    attributes: { XGH: '007' },
  };

  test('compares exactly, without trimming', () => {
    expect(isSamePerson({ field: 'id' }, profile, 'Ab01')).toBe(true);
    for (const other of ['ab01', ' Ab01', 'Ab01 ', 'Ab1', 'Ab011', ''])
      expect(isSamePerson({ field: 'id' }, profile, other)).toBe(false);
    expect(isSamePerson({ field: 'XGH' }, profile, '7')).toBe(false);
    expect(isSamePerson({ field: 'XGH', prefix: 'u' }, profile, 'u007')).toBe(true);
    expect(isSamePerson({ field: 'XGH', prefix: 'u' }, profile, '007')).toBe(false);
  });

  test('ignores the case of ASCII letters only, and only if configured', () => {
    expect(isSamePerson({ field: 'id', ignoreCase: true }, profile, 'aB01')).toBe(true);
    expect(isSamePerson({ field: 'id', ignoreCase: true }, { ...profile, id: asAccountId('k1') }, '\u212A1')).toBe(
      false,
    );
  });

  test('never matches a missing, empty or inherited field', () => {
    for (const field of ['XM', 'constructor', 'toString', '__proto__'])
      expect(isSamePerson({ field }, profile, '')).toBe(false);
    expect(isSamePerson({ field: 'id' }, { ...profile, id: asAccountId('') }, '')).toBe(false);
  });

  test('never matches two different ids', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (id, other) => {
        expect(isSamePerson({ field: 'id' }, { ...profile, id: asAccountId(id) }, other)).toBe(
          id === other && id !== '',
        );
      }),
    );
  });
});

test('a masked id shows at most four characters', () => {
  expect(maskId('zhangsan')).toBe('zh•••an');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      const masked = maskId(id);
      expect([...masked.replace('•••', '')].length).toBeLessThanOrEqual(Math.max(1, Math.min(4, [...id].length - 1)));
    }),
  );
});
