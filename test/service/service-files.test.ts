import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { argon2id } from 'hash-wasm';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { hashPassword, passwordFits, passwordFault } from '../../src/service/sign-in/passwords.ts';
import { ServiceFileError } from '../../src/service/service-file.ts';
import { CLIENT, PEOPLE } from './support.ts';

function faultsOf(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ServiceFileError) return error.faults;
    throw error;
  }
  return [];
}

describe('SERVICE_CLIENTS_FILE', () => {
  test('clients are read', () => {
    expect(parseClientsFile(JSON.stringify([CLIENT]))).toEqual([
      { clientId: 'parley', clientSecret: 'the-secret', name: 'Parley bot', redirectUris: CLIENT.redirect_uris },
    ]);
  });

  test('every fault is named with its place, and no secret is shown', () => {
    const faults = faultsOf(() =>
      parseClientsFile(
        JSON.stringify([
          { ...CLIENT, name: undefined, redirect_uris: ['/relative', 'javascript:alert(1)', 'https://a.example/#x'] },
        ]),
      ),
    );
    expect(faults.map((fault) => fault.split(':')[0])).toEqual([
      '[0].name',
      '[0].redirect_uris[0]',
      '[0].redirect_uris[1]',
      '[0].redirect_uris[2]',
    ]);
    expect(faults.join()).not.toContain('the-secret');
    expect(faultsOf(() => parseClientsFile(JSON.stringify([CLIENT, CLIENT])))).toEqual([
      'the file: client_id parley occurs twice',
    ]);
    expect(faultsOf(() => parseClientsFile('[{'))).toEqual(['The file is not valid JSON']);
  });

  test('any text gives clients or a ServiceFileError', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        (text) => void faultsOf(() => [parseClientsFile(text), parseDirectoryFile(text)]),
      ),
    );
  });
});

describe('SERVICE_DIRECTORY_FILE', () => {
  const [first] = PEOPLE as { password: string }[];

  test('plain passwords only where they are allowed', () => {
    const text = JSON.stringify(PEOPLE);
    expect(parseDirectoryFile(text, { allowPlainPasswords: true }).map(({ username }) => username)).toEqual([
      'zhangwei',
      'alice',
    ]);
    const faults = faultsOf(() => parseDirectoryFile(text));
    expect(faults).toHaveLength(2);
    expect(faults[0]).toMatch(/^\[0\]\.password: plain:/);
    expect(faults.join()).not.toContain('zhangwei-pass');
  });

  test.each([
    'bcrypt',
    '$scrypt$ln=30,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    '$argon2i$v=19$m=64,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=9999999,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    '',
  ])('a password string that cannot be verified is a fault: %s', (password) => {
    expect(faultsOf(() => parseDirectoryFile(JSON.stringify([{ ...first, password }])))).toHaveLength(1);
  });

  test('two people must not share a name, an id or a WeCom id', () => {
    expect(
      faultsOf(() => parseDirectoryFile(JSON.stringify([first, first]), { allowPlainPasswords: true })),
    ).toHaveLength(3);
  });
});

describe('password strings (PHC)', () => {
  // Made with another scrypt implementation (hashlib): N = 2^14, r = 8, p = 1.
  const SCRYPT = '$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$Pl0VBAYhww3T0IHcK2wrIZdKyTqXibI8HL7II2suZuc';

  test('scrypt strings made elsewhere and by us fit their password only', async () => {
    for (const stored of [SCRYPT, await hashPassword('correct 密码')]) {
      expect(passwordFault(stored, false)).toBeUndefined();
      expect([
        await passwordFits('correct 密码', stored),
        await passwordFits('correct', stored),
        await passwordFits('', stored),
      ]).toEqual([true, false, false]);
    }
  });

  test('argon2id strings fit their password only', async () => {
    const stored = await argon2id({
      password: 'correct 密码',
      salt: Buffer.alloc(16, 7),
      iterations: 2,
      memorySize: 256,
      parallelism: 1,
      hashLength: 32,
      outputType: 'encoded',
    });
    expect(passwordFault(stored, false)).toBeUndefined();
    expect([
      await passwordFits('correct 密码', stored),
      await passwordFits('wrong', stored),
      await passwordFits('', stored),
    ]).toEqual([true, false, false]);
  });
});
