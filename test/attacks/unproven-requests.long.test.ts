import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KIB_BYTES, MINUTE_MS } from '../../src/base/clock.ts';
import { startTown, type Town } from '../support/town.ts';
import { comeBackWithoutCode, costInRedis, send, tryLogin, unprovenRequests, type Cost } from './unproven-requests.ts';

const EACH = 200;

let town: Town;
beforeAll(async () => {
  town = await startTown();
}, 60_000);
afterAll(() => town.stop());

test('what each page of bot and service keeps for somebody who has proven nothing, with its figures', async () => {
  const costs: Record<string, Cost> = {};
  const times = (request: () => Promise<unknown>) => Array.from({ length: EACH }, () => request);
  const names = unprovenRequests(town).map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const requests = Array.from({ length: EACH }, () => unprovenRequests(town)[index]);
    costs[name] = await costInRedis(
      town.redis,
      requests.map((request) => async () => request && (await send(request))),
    );
  }
  costs['login that fails'] = await costInRedis(
    town.redis,
    times(() => tryLogin(town)),
  );
  // WeCom's token, which all share, is there before.
  await comeBackWithoutCode(town);
  costs['return as nobody'] = await costInRedis(
    town.redis,
    times(() => comeBackWithoutCode(town)),
  );
  const rows = Object.entries(costs).map(
    ([name, { bytesPerRequest, longestLifeMs, keys }]) =>
      `${name}: ${bytesPerRequest} B, ${longestLifeMs} ms, ${keys} keys`,
  );
  process.stdout.write(`${rows.join('\n')}\n`);
  for (const { bytesPerRequest, longestLifeMs } of Object.values(costs)) {
    expect(bytesPerRequest).toBeLessThanOrEqual(2 * KIB_BYTES);
    expect(longestLifeMs).toBeLessThanOrEqual(10 * MINUTE_MS);
  }
}, 600_000);
