import { expect, test } from '@jest/globals';
import { sha256Hex } from '../../src/shared/crypto/ids.ts';
import { KeyRing } from '../../src/shared/crypto/key-ring.ts';
import { Sessions } from '../../src/service/oauth/sessions.ts';
import { Store } from '../../src/service/oauth/store.ts';
import { useTestRedis } from '../support/use-test-redis.ts';

const server = useTestRedis();
const ringOf = (byte: number) => new KeyRing([Buffer.alloc(32, byte)]);

test('a session that is damaged, invalid or encrypted with an unknown key is ignored, so the person signs in again [sealed-records]', async () => {
  const store = new Store(server.redis, ringOf(1));
  const sessions = new Sessions(store);
  const id = await sessions.start({ username: 'alice', method: 'password' });
  expect(await sessions.find(id)).toEqual({ username: 'alice', method: 'password' });
  expect(await new Sessions(new Store(server.redis, ringOf(2))).find(id)).toBeUndefined();
  const key = store.key('session', sha256Hex(id));
  for (const plain of ['no JSON', 'null', '[]', '{"username":"alice"}']) {
    await server.redis.set(key, store.seal(key, plain));
    expect(await sessions.find(id)).toBeUndefined();
  }
  await server.redis.set(key, 's1.junk');
  expect(await sessions.find(id)).toBeUndefined();
});
