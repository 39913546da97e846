import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { IdentityError } from '../../../../src/bot/identity/identity-error.ts';
import { readProfile } from '../../../../src/bot/identity/oauth/profile-response.ts';
import { classifyRefusal, readTokenResponse } from '../../../../src/bot/identity/oauth/token-response.ts';
import { anyText } from '../../../support/any-text.ts';

describe('token responses [token-answer-checked]', () => {
  const right = { access_token: 'a', token_type: 'bearer', expires_in: 7200 };
  const read = (body: object, status = 200) => readTokenResponse({ status, body: JSON.stringify(body) }, 'auto');

  test('accept bearer in any case, and a refresh token only if it is a valid string', () => {
    expect(read({ ...right, token_type: 'BeArEr', refresh_token: 'r' })).toEqual({
      accessToken: 'a',
      refreshToken: 'r',
      lifeMs: 7_200_000,
    });
    for (const refreshToken of ['', null, 7, ['r'], 'x'.repeat(32_769)]) {
      expect(read({ ...right, refresh_token: refreshToken })).not.toHaveProperty('refreshToken');
    }
  });

  test('reject anything else without quoting it in the error', () => {
    const canary = 'canary-5e1f';
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(200, 200, 400, 500, 302), (body, status) => {
        try {
          readTokenResponse({ status, body: body.replace(/"/, `"${canary}`) }, 'auto');
        } catch (error) {
          expect(error).toBeInstanceOf(IdentityError);
          expect(String(error)).not.toContain(canary);
          return;
        }
        throw new Error('accepted');
      }),
    );
    for (const change of [
      { access_token: '' },
      { access_token: 'x'.repeat(32_769) },
      { token_type: undefined },
      { error: 'x' },
    ]) {
      expect(() => read({ ...right, ...change })).toThrow(IdentityError);
    }
    expect(() => read(right, 201)).toThrow(IdentityError);
  });
});

test.each([
  [400, '{"error":"invalid_grant"}', 'definitive'],
  [401, '{"error":"invalid_grant"}', 'definitive'],
  [403, '{"error":"invalid_grant"}', 'unknown'],
  [401, '{"error":"invalid_client"}', 'ours'],
  [400, '{"error":"unauthorized_client"}', 'ours'],
  [400, '{"error":"odd"}', 'unknown'],
  [404, '{}', 'unknown'],
  [400, '<html>', 'transient'],
  [200, '<html>', 'transient'],
  [408, '{"error":"invalid_grant"}', 'transient'],
  [429, '{}', 'transient'],
  [503, '{"error":"invalid_grant"}', 'transient'],
  [302, '', 'transient'],
])('a refresh refused with %p %p is %p [refresh-outcomes]', (status, body, expected) => {
  expect(classifyRefusal({ status, body })).toBe(expected);
});

describe('profile responses [usable-profile]', () => {
  const right = { id: '20001', active: true, client_id: 'parley', attributes: { XM: 'Zhang San' } };
  const read = (body: object) => readProfile({ status: 200, body: JSON.stringify(body) }, { clientId: 'parley' });

  test('use empty strings for missing fields, and the id for a missing name', () => {
    expect(read({ ...right, attributes: null })).toEqual({
      id: '20001',
      name: '20001',
      identityCode: '',
      department: '',
      departmentName: '',
      attributes: {},
    });
  });

  test('accept only ids of the allowed characters and length', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 140 }), (id) => {
        const isAllowed = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/.test(id) && !id.includes('\n');
        if (isAllowed) expect(read({ ...right, id }).id).toBe(id);
        else expect(() => read({ ...right, id })).toThrow(IdentityError);
      }),
    );
  });

  test('cannot set the prototype of the attributes', () => {
    const profile = readProfile(
      {
        status: 200,
        body: '{"id":"1","active":true,"client_id":"parley","attributes":{"__proto__":"x","XM":"\\u202eA"}}',
      },
      { clientId: 'parley' },
    );
    expect(profile.name).toBe('A');
    expect(Object.getPrototypeOf(profile.attributes)).toBe(Object.prototype);
  });
});
