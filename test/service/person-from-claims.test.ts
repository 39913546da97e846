import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseProfileMapFile, type ProfileMap } from '../../src/shared/sign-in/profile-map-file.ts';
import type { ConfigFileError } from '../../src/shared/json-file.ts';
import { personFromClaims } from '../../src/shared/sign-in/person-from-claims.ts';
import { ProviderError } from '../../src/shared/sign-in/provider-error.ts';

const map = (file: object): ProfileMap => parseProfileMapFile(JSON.stringify(file));
const usual = map({});

describe('a profile from claims [profile]', () => {
  test('uses the standard claims without a map, and the id where there is no other value', () => {
    expect(personFromClaims(usual, { sub: '7' })).toEqual({
      username: '7',
      profile: {
        id: '7',
        active: true,
        parentIdentityInfo: { name: '其他', code: 'QT' },
        attributes: { BMBM: '', BMMC: '', XGH: '7', XM: '7', objectId: '7' },
      },
    });
    const claims = {
      sub: '7',
      name: ' Li ',
      department: 'Physics',
      BMBM: 12,
      eduperson_affiliation: ['member', 'student'],
    };
    const { profile } = personFromClaims(usual, claims);
    expect([profile.attributes, profile.parentIdentityInfo.code]).toEqual([
      { BMBM: '12', BMMC: 'Physics', XGH: '7', XM: 'Li', objectId: '7' },
      'XS',
    ]);
  });

  test('uses mapped claims, including nested ones, alternatives, and fixed values', () => {
    const file = {
      username: 'preferred_username',
      id: ['employeeNumber', 'studentNumber'],
      XM: ['realName', 'https://id.example/name'],
      BMMC: 'org.department.name',
      BMBM: { value: '100' },
      XGH: ['card', { value: '' }],
      identity: { from: 'type', codes: { '1': 'JG', '2': 'XS' }, otherwise: 'QT' },
      identityNames: { XS: '研究生' },
    };
    const claims = {
      sub: 'uuid',
      preferred_username: 'li',
      employeeNumber: '',
      studentNumber: 2024,
      'https://id.example/name': '李雷',
      org: { department: { name: ['物理系', '数学系'] } },
      type: 2,
    };
    expect(personFromClaims(map(file), claims)).toEqual({
      username: 'li',
      profile: {
        id: '2024',
        active: true,
        parentIdentityInfo: { name: '研究生', code: 'XS' },
        attributes: { BMBM: '100', BMMC: '物理系', XGH: '', XM: '李雷', objectId: 'uuid' },
      },
    });
  });

  test('uses the first identity in the map for a person with several', () => {
    const file = { identity: { from: 'kind', codes: { staff: 'JG', student: 'XS' } } };
    const code = (kind: unknown) => personFromClaims(map(file), { sub: '7', kind }).profile.parentIdentityInfo.code;
    expect([code(['student', 'staff']), code(['student']), code('guest'), code(undefined), code({ staff: 1 })]).toEqual(
      ['JG', 'XS', 'QT', 'QT', 'QT'],
    );
  });

  test('is inactive by the standard claim or by a declared one', () => {
    const isActive = (file: object, claims: object) =>
      personFromClaims(map(file), { sub: '7', ...claims }).profile.active;
    expect([
      isActive({}, { active: false }),
      isActive({}, { active: 'false' }),
      isActive({}, { active: true }),
    ]).toEqual([false, false, true]);
    const file = { inactive: { from: 'status', values: ['left', '0'] } };
    expect([isActive(file, { status: 0 }), isActive(file, { status: ['ok', 'left'] }), isActive(file, {})]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test.each([
    ['the id', {}, { name: 'Li' }, 'id'],
    ['an empty id', {}, { sub: ' ' }, 'id'],
    ['an id of 129 letters', {}, { sub: 'x'.repeat(129) }, 'id'],
    ['an id with a control character', {}, { sub: 'a\u0000b' }, 'id'],
    ['a mapped name', { XM: 'realName' }, { sub: '7', name: 'Li' }, 'XM'],
    ['a mapped username', { username: 'login' }, { sub: '7' }, 'username'],
    ['a mapped claim that is an object', { BMMC: 'dept' }, { sub: '7', dept: { a: 1 } }, 'BMMC'],
    ['a name inherited by every object', { XM: ['toString', 'constructor.name'] }, { sub: '7' }, 'XM'],
  ])('is refused for %s, and the error names the field but not its value', (_, file, claims, part) => {
    const read = () => personFromClaims(map(file), claims);
    expect(read).toThrow(ProviderError);
    expect(read).toThrow(`The claims contain no usable ${part}`);
  });

  test('property: is complete or refused with an error code, for any claims', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('sub', 'name', 'active', 'department', 'XM'), fc.jsonValue()),
        (claims) => {
          try {
            const { username, profile } = personFromClaims(usual, claims);
            const texts = [username, profile.id, profile.parentIdentityInfo.name, ...Object.values(profile.attributes)];
            expect(texts.every((text) => typeof text === 'string' && !/\p{Cc}/u.test(text))).toBe(true);
            expect(profile.id).not.toBe('');
          } catch (error) {
            expect((error as ProviderError).code).toBe('profile_unusable');
          }
        },
      ),
    );
  });
});

test('SERVICE_PROFILE_MAP_FILE reports every fault at once, with its place', () => {
  const file = {
    ID: 'sub',
    BMMC: [],
    identity: { from: 'kind', codes: { staff: 'XX' } },
    inactive: { from: 'x', values: [] },
  };
  let faults: readonly string[] = [];
  try {
    map(file);
  } catch (error) {
    faults = (error as ConfigFileError).faults;
  }
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual([
    'BMMC',
    'identity.codes.staff',
    'inactive.values',
    'the file',
  ]);
});
