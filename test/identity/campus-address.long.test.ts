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

test('2,000 people behind one address sign in, each with the right link, beside 3,000 useless requests', async () => {
  fixture = await startIdentityFixture(server.redis, { isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(fixture, { people: 2_000, noise: 1_000 });
  expect(linked).toBe(2_000);
  expect(noiseStatuses).toContain(429);
}, 300_000);
