import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { signInCampus } from './campus-address.ts';
import { startIdentityFixture, type IdentityFixture } from './identity-fixture.ts';

let server: TestRedis;
let fixture: IdentityFixture;
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(() => fixture.close());
afterAll(() => server.stop());

test('60 people behind one address sign in within a minute, each with the right link, while somebody there makes noise', async () => {
  fixture = await startIdentityFixture(server.redis, { isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(fixture, { people: 60, noise: 660 });
  expect(linked).toBe(60);
  // The noise itself was told to wait.
  expect(noiseStatuses).toContain(429);
});
