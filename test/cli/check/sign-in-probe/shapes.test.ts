import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shapeOf } from '../../../../src/cli/check/sign-in-probe/answer-shape.ts';
import { guessExpiresUnit } from '../../../../src/cli/check/sign-in-probe/expires-unit.ts';
import { KnownSecrets } from '../../../../src/cli/check/sign-in-probe/known-secrets.ts';
import { judgeProfileFields } from '../../../../src/cli/check/sign-in-probe/profile-fields.ts';
import type { ServiceAnswer } from '../../../../src/cli/check/sign-in-probe/service-calls.ts';
import { codeVerdict, tokensIn } from '../../../../src/cli/check/sign-in-probe/tokens-in.ts';

function answer(body: string, more: Partial<ServiceAnswer> = {}): ServiceAnswer {
  return { status: 200, body, contentType: 'application/json', tookMs: 1, ...more };
}

test.each<[string, Partial<ServiceAnswer>, string]>([
  ['', {}, '200, empty'],
  ['{}', {}, '200, JSON with no fields'],
  ['{"error":"invalid_grant"}', { status: 400 }, '400, JSON with error (invalid_grant)'],
  [
    '{"error":{"a":1}}',
    { contentType: 'text/html;charset=utf-8' },
    '200, JSON with error (a non-standard error code), sent as text/html',
  ],
  ['{"a":1}', { contentType: '' }, '200, JSON with a, sent as no type'],
  ['[1]', {}, '200, JSON, but not an object'],
  ['  <html>', {}, '200, HTML'],
  ['error=invalid_grant&x=1', {}, '200, form-encoded with error, x (invalid_grant)'],
  ['no such code', {}, '200, text of 12 characters'],
  ['', { status: 0, failure: 'ETIMEDOUT' }, 'no answer (ETIMEDOUT)'],
])('the shape of %j %j', (body, more, expected) => {
  expect(shapeOf(answer(body, more))).toBe(expected);
});

test('a shape never contains a value, or a name that is not a plain word', () => {
  const value = fc.stringMatching(/^[A-Za-z0-9_-]{3}[0-9][A-Za-z0-9_-]{12,40}$/);
  fc.assert(
    fc.property(value, fc.constantFrom('access_token', 'error', 'other'), fc.boolean(), (secret, field, isForm) => {
      const body = isForm ? `${field}=${secret}` : JSON.stringify({ [field]: secret, [secret]: 1 });
      expect(shapeOf(answer(body))).not.toContain(secret);
      expect(shapeOf(answer(secret))).not.toContain(secret);
      expect(shapeOf(answer('{}', { contentType: secret }))).not.toContain(secret);
    }),
  );
});

test('any token in an answer becomes a known secret, and no line shows it', () => {
  const token = fc.stringMatching(/^[A-Za-z0-9._:~+/-]{8,60}$/);
  fc.assert(
    fc.property(
      token,
      fc.constantFrom('access_token', 'refresh_token', 'id_token'),
      fc.boolean(),
      (secret, name, isForm) => {
        const secrets = new KnownSecrets();
        tokensIn(answer(isForm ? `x=1&${name}=${secret}` : JSON.stringify({ [name]: secret }, null, 1)), secrets);
        expect(secrets.hide(`a line with ${secret} inside`)).toBe('a line with ••• inside');
      },
    ),
  );
});

test.each<[unknown, string, boolean]>([
  [7_200, 'seconds', true],
  ['7200', 'seconds', true],
  [60, 'seconds', true],
  [86_400, 'seconds', true],
  [299_999, 'seconds', true],
  [300_000, 'auto', false],
  [604_800, 'auto', false],
  [2_592_000, 'auto', false],
  [2_592_001, 'milliseconds', true],
  [7_200_000, 'milliseconds', true],
  [1_790_000_000, 'milliseconds', true],
  [1_790_000_000_000, 'auto', false],
  [30, 'auto', false],
  [0, 'auto', false],
  [-1, 'auto', false],
  [Number.NaN, 'auto', false],
  [undefined, 'auto', false],
  [null, 'auto', false],
  ['2 hours', 'auto', false],
  [{}, 'auto', false],
])('expires_in %j is %s (sure: %s) [expiry-unit]', (value, unit, isSure) => {
  expect(guessExpiresUnit(value)).toMatchObject({ unit, isSure });
});

test('a text in expires_in is never repeated [expiry-unit]', () => {
  expect(guessExpiresUnit('AT-looks-like-a-token').detail).toBe(
    'expires_in is not a number above 0 (string); Parley assumes 5 minutes',
  );
});

test('a fault of the service does not count as a refusal of the code', () => {
  const verdict = (body: string, status: number) => codeVerdict(answer(body, { status }), new KnownSecrets());
  expect(verdict('{"access_token":"a","token_type":"Bearer"}', 200)).toBe('accepted');
  expect(verdict('', 400)).toBe('refused');
  expect(verdict('{"error":"invalid_grant"}', 200)).toBe('refused');
  for (const status of [0, 200, 302, 408, 429, 500, 503]) expect(verdict('<html>', status)).toBe('unclear');
});

test('missing profile fields are reported without any values, for any JSON', () => {
  const name = fc.constantFrom('id', 'active', 'client_id', 'parentIdentityInfo', 'attributes', 'XM');
  fc.assert(
    fc.property(fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.constant('Zhang-Wei-20210042'))), (profile) => {
      const faults = judgeProfileFields(JSON.stringify(profile));
      expect(JSON.stringify(faults)).not.toContain('20210042');
      expect(
        Object.values(faults ?? {})
          .flat()
          .every((fault) => /^[\w.]+ is (missing|empty|of type \w+)$/.test(fault)),
      ).toBe(true);
    }),
  );
  expect(judgeProfileFields('[]')).toBeUndefined();
});
