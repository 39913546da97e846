import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KIB_BYTES, MINUTE_MS } from '../../src/shared/clock.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { comeBackWithoutCode, costInRedis, send, tryLogin, unprovenRequests, type Cost } from './unproven-requests.ts';

const EACH = 4;
/** Maximum that one unauthenticated request may leave behind in Redis. */
const MAX_BYTES = 2 * KIB_BYTES;
const MAX_MS = 10 * MINUTE_MS;

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
}, 60_000);
afterAll(() => deployment.stop());

const isTooMuch = ({ bytesPerRequest, maxLifeMs }: Cost) => bytesPerRequest > MAX_BYTES || maxLifeMs > MAX_MS;

test('an unauthenticated request to any page of bot or service leaves at most 2 KiB in Redis, for at most 10 minutes', async () => {
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

test('a sign-in that starts elsewhere and returns an invalid code leaves nothing in Redis', async () => {
  const leave = unprovenRequests(deployment).find(({ name }) => name === 'service GET authorize in WeCom');
  expect((await send(leave ?? { name: '', url: '' })).headers.location).toContain('/connect/oauth2/authorize');
  const left = await costInRedis(
    deployment.redis,
    Array.from({ length: EACH }, () => () => comeBackWithoutCode(deployment)),
  );
  // Only WeCom's shared access token.
  expect(left.keys).toBeLessThanOrEqual(1);
});

test('a failed login leaves only a few counters in Redis', async () => {
  const left = await costInRedis(
    deployment.redis,
    Array.from({ length: EACH }, () => () => tryLogin(deployment)),
  );
  expect([left.keys > 0, isTooMuch(left)]).toEqual([true, false]);
});
