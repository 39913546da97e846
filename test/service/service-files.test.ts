import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { argon2id } from 'hash-wasm';
import { parseClientsFile } from '../../src/service/clients-file.ts';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { parseProfileMapFile } from '../../src/shared/sign-in/profile-map-file.ts';
import { hashPassword, verifyPassword, passwordFault } from '../../src/service/oauth/passwords.ts';
import { ConfigFileError } from '../../src/shared/json-file.ts';
import { runHashPassword } from '../../src/cli/hash-password-command.ts';
import { CLIENT, PEOPLE } from './support.ts';

function faultsOf(parse: () => unknown): readonly string[] {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigFileError) return error.faults;
    throw error;
  }
  return [];
}

describe('SERVICE_CLIENTS_FILE', () => {
  test('defines the clients', () => {
    expect(parseClientsFile(JSON.stringify([CLIENT]))).toEqual([
      { clientId: 'parley', clientSecret: 'the-secret', name: 'Parley bot', redirectUris: CLIENT.redirect_uris },
    ]);
  });

  test('reports every fault with its place and without secrets', () => {
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
    expect(faultsOf(() => parseClientsFile('[{'))).toEqual(['Line 1, column 3: the file ends here, and } is missing']);
  });

  test('gives clients or a ConfigFileError for any text', () => {
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

  test('allows plain passwords only if the setting permits them', () => {
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
  ])('refuses a password string that cannot be verified: %s', (password) => {
    expect(faultsOf(() => parseDirectoryFile(JSON.stringify([{ ...first, password }])))).toHaveLength(1);
  });

  test('refuses two people with the same name, id or WeCom id', () => {
    expect(
      faultsOf(() => parseDirectoryFile(JSON.stringify([first, first]), { allowPlainPasswords: true })),
    ).toHaveLength(3);
  });
});

describe('password strings (PHC)', () => {
  // Created with another scrypt implementation (hashlib): N = 2^14, r = 8, p = 1.
  const SCRYPT = '$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$Pl0VBAYhww3T0IHcK2wrIZdKyTqXibI8HL7II2suZuc';

  test('in scrypt format match only their password, whether created by Parley or elsewhere', async () => {
    for (const stored of [SCRYPT, await hashPassword('correct 密码')]) {
      expect(passwordFault(stored, false)).toBeUndefined();
      expect([
        await verifyPassword('correct 密码', stored),
        await verifyPassword('correct', stored),
        await verifyPassword('', stored),
      ]).toEqual([true, false, false]);
    }
  });

  test('in argon2id format match only their password', async () => {
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
      await verifyPassword('correct 密码', stored),
      await verifyPassword('wrong', stored),
      await verifyPassword('', stored),
    ]).toEqual([true, false, false]);
  });
});

describe('faults of a service file', () => {
  test("are reported in Parley's own words with their place", () => {
    const [person] = PEOPLE as Record<string, unknown>[];
    const faults = faultsOf(() =>
      parseDirectoryFile(
        JSON.stringify([
          { ...person, username: 7, profile: { ...(person?.['profile'] as object), active: 'yes' } },
          {},
        ]),
        { allowPlainPasswords: true },
      ),
    );
    expect(faults).toEqual([
      '[0].username: Must be a text, but is a number',
      '[0].profile.active: Must be true or false, but is a text',
      '[1].username: Is missing: must be a text',
      '[1].password: Is missing: must be a text',
      '[1].profile: Is missing: must be an object',
    ]);
    expect(faultsOf(() => parseClientsFile('{}'))).toEqual(['the file: Must be a list, but is an object']);
  });

  test('of any kind do not contain messages of the validation library', () => {
    const wrong = fc.oneof(fc.jsonValue(), fc.constant([{ ...CLIENT, name: '', redirect_uris: [] }]));
    fc.assert(
      fc.property(wrong, (value) => {
        const text = JSON.stringify(value);
        const found = [parseClientsFile, parseDirectoryFile, parseProfileMapFile].flatMap((parse) => [
          ...faultsOf(() => parse(text)),
        ]);
        for (const fault of found) expect(fault).not.toMatch(/Invalid|expected|received|Too (small|big)|Unrecognized/);
      }),
    );
  });

  test('name the hash command for a placeholder in place of a password', () => {
    const [person] = PEOPLE as Record<string, unknown>[];
    for (const password of ['$scrypt$ln=14,r=8,p=1$SALT$HASH', 'changeme', '', 'plain:secret-word']) {
      const [fault = ''] = faultsOf(() => parseDirectoryFile(JSON.stringify([{ ...person, password }])));
      expect(fault).toContain('npm run hash-password');
      expect(fault).not.toContain('secret-word');
    }
  });
});

describe('npm run hash-password', () => {
  const run = async (...typed: string[]) => {
    let [output, asides] = ['', ''];
    async function* input() {
      yield* typed;
    }
    const exitCode = await runHashPassword({
      input: input(),
      output: { write: (text: string) => (output += text) },
      asides: { write: (text: string) => (asides += text) },
    });
    return { exitCode, output, asides };
  };

  test.each([[[]], [['']], [['\n']], [['  \r\n']]])('refuses empty input: %j', async (typed) => {
    expect(await run(...typed)).toEqual({ exitCode: 2, output: '', asides: expect.stringContaining('No password') });
  });

  test('prints a string that matches the password, for any form of input', async () => {
    const { exitCode, output, asides } = await run('correct ', '密码\n');
    expect([exitCode, asides]).toEqual([0, '']);
    expect(await verifyPassword('correct 密码', output.trim())).toBe(true);
  });
});
