import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { parseDirectoryFile } from '../../src/service/directory-file.ts';
import { personFromClaims } from '../../src/shared/sign-in/person-from-claims.ts';
import { Directory } from '../../src/service/oauth/directory.ts';
import { People } from '../../src/service/oauth/people.ts';
import { Store } from '../../src/service/oauth/store.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { PEOPLE } from './support.ts';

const KEPT_MS = 60_000;
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const listed = new Directory(parseDirectoryFile(JSON.stringify(PEOPLE), { allowPlainPasswords: true }));

let server: TestRedis;
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(async () => server.stop());

function people({ directory = new Directory([]), origin = 'oidc a', keys = [OLD] } = {}): People {
  const keyRing = new KeyRing(keys);
  return new People({ directory, store: new Store(server.redis, keyRing), keyRing, origin, keptMs: KEPT_MS });
}

function brought(username: string, id = username) {
  return personFromClaims({ username: ['login'] }, { login: username, sub: id });
}

test('a person confirmed by the provider is remembered for the configured time', async () => {
  await people().admit(brought('li', '7'));
  expect(await people().byUsername('li')).toEqual(brought('li', '7'));
  const [key = ''] = await server.redis.keys('*person*');
  expect(await server.redis.pttl(key)).toBeGreaterThan(KEPT_MS - 5_000);
  expect(key).not.toContain('li');
});

test('people of different providers with the same name are separate, and none is remembered without a provider', async () => {
  await people().admit(brought('han'));
  expect(await people({ origin: 'oidc b' }).byUsername('han')).toBeUndefined();
  const directoryAlone = new People({
    directory: listed,
    store: new Store(server.redis, new KeyRing([OLD])),
    keyRing: new KeyRing([OLD]),
    origin: undefined,
    keptMs: KEPT_MS,
  });
  expect(await directoryAlone.byUsername('han')).toBeUndefined();
});

test('a directory entry created after the sign-in applies immediately, found by username or profile id', async () => {
  await people().admit(brought('alice', '7'));
  await people().admit(brought('li', '20190001'));
  const later = people({ directory: listed });
  expect((await later.byUsername('alice'))?.profile.attributes.XM).toBe('Alice Chen');
  expect((await later.byUsername('li'))?.profile.attributes.XM).toBe('张伟');
});

test('a username and a profile id of two different entries match no person', async () => {
  expect(await people({ directory: listed }).admit(brought('alice', '20190001'))).toBeUndefined();
});

test('an older key still decrypts a person; without it, the person must sign in again [key-rotation]', async () => {
  await people().admit(brought('wu'));
  expect(await people({ keys: [NEW, OLD] }).byUsername('wu')).toBeDefined();
  expect(await people({ keys: [NEW] }).byUsername('wu')).toBeUndefined();
});
