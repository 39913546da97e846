import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KIB_BYTES, MINUTE_MS } from '../../src/shared/clock.ts';
import { startDeployment, type Deployment } from '../support/deployment.ts';
import { comeBackWithoutCode, costInRedis, send, tryLogin, unprovenRequests, type Cost } from './unproven-requests.ts';

const EACH = 200;

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
}, 60_000);
afterAll(() => deployment.stop());

test('reports the Redis cost per unauthenticated request for every page of bot and service, within 2 KiB and 10 minutes', async () => {
  const costs: Record<string, Cost> = {};
  const times = (request: () => Promise<unknown>) => Array.from({ length: EACH }, () => request);
  const names = unprovenRequests(deployment).map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const requests = Array.from({ length: EACH }, () => unprovenRequests(deployment)[index]);
    costs[name] = await costInRedis(
      deployment.redis,
      requests.map((request) => async () => request && (await send(request))),
    );
  }
  costs['login that fails'] = await costInRedis(
    deployment.redis,
    times(() => tryLogin(deployment)),
  );
  // Stores WeCom's shared access token first, so that it is not counted.
  await comeBackWithoutCode(deployment);
  costs['return as nobody'] = await costInRedis(
    deployment.redis,
    times(() => comeBackWithoutCode(deployment)),
  );
  const rows = Object.entries(costs).map(
    ([name, { bytesPerRequest, maxLifeMs, keys }]) => `${name}: ${bytesPerRequest} B, ${maxLifeMs} ms, ${keys} keys`,
  );
  process.stdout.write(`${rows.join('\n')}\n`);
  for (const { bytesPerRequest, maxLifeMs } of Object.values(costs)) {
    expect(bytesPerRequest).toBeLessThanOrEqual(2 * KIB_BYTES);
    expect(maxLifeMs).toBeLessThanOrEqual(10 * MINUTE_MS);
  }
}, 600_000);
