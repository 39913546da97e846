import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { signInCampus } from './campus-address.ts';
import { openHouse, type House } from './house.ts';

let server: TestRedis;
let house: House;
beforeAll(async () => {
  server = await startTestRedis();
});
afterEach(() => house.close());
afterAll(() => server.stop());

test('2,000 people behind one address sign in, each with the right link, beside 3,000 useless requests', async () => {
  house = await openHouse(server.redis, { isCampus: true });
  const { linked, noiseStatuses } = await signInCampus(house, { people: 2_000, noise: 1_000 });
  expect(linked).toBe(2_000);
  expect(noiseStatuses).toContain(429);
}, 300_000);
