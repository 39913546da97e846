import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KIB_BYTES, MINUTE_MS } from '../../src/shared/clock.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { comeBackWithoutCode, costInRedis, send, tryLogin, unprovenRequests, type Cost } from './unproven-requests.ts';

const EACH = 4;
/** What somebody may leave behind who has proven nothing. */
const MOST_BYTES = 2 * KIB_BYTES;
const LONGEST_MS = 10 * MINUTE_MS;

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
}, 60_000);
afterAll(() => deployment.stop());

const isTooMuch = ({ bytesPerRequest, longestLifeMs }: Cost) =>
  bytesPerRequest > MOST_BYTES || longestLifeMs > LONGEST_MS;

test('no page of bot or service keeps more than 2 KiB, or anything for more than ten minutes, for somebody who has proven nothing', async () => {
  const tooMuch: Record<string, Cost> = {};
  for (const { name } of unprovenRequests(deployment)) {
    const requests = Array.from({ length: EACH }, () => {
      const request = unprovenRequests(deployment).find((one) => one.name === name);
      return () => (request ? send(request) : Promise.reject(new Error(name)));
    });
    const cost = await costInRedis(deployment.redis, requests);
    if (isTooMuch(cost)) tooMuch[name] = cost;
  }
  expect(tooMuch).toEqual({});
});

test('a sign-in that is begun elsewhere, and comes back as nobody, leaves nothing in Redis', async () => {
  const leave = unprovenRequests(deployment).find(({ name }) => name === 'service GET authorize in WeCom');
  expect((await send(leave ?? { name: '', url: '' })).headers.location).toContain('/connect/oauth2/authorize');
  const left = await costInRedis(
    deployment.redis,
    Array.from({ length: EACH }, () => () => comeBackWithoutCode(deployment)),
  );
  // WeCom's own token for all, and nothing for any of them.
  expect(left.keys).toBeLessThanOrEqual(1);
});

test('a login that fails leaves a few counters', async () => {
  const left = await costInRedis(
    deployment.redis,
    Array.from({ length: EACH }, () => () => tryLogin(deployment)),
  );
  expect([left.keys > 0, isTooMuch(left)]).toEqual([true, false]);
});
