import { expect, test } from '@jest/globals';
import Koa from 'koa';
import { healthRoutes, type Readiness } from '../../src/service/health-routes.ts';
import { startStandIn } from './sign-in-support.ts';

test.each<[Readiness, number, object]>([
  ['ready', 200, { status: 'ready', parts: { redis: 'ready' } }],
  ['redis not ready', 503, { status: 'not ready', parts: { redis: 'not ready' } }],
  ['stopping', 503, { status: 'stopping', parts: { service: 'stopping' } }],
])('/readyz says why the service can work or not: %s', async (state, status, body) => {
  const app = new Koa().use(healthRoutes(async () => state, {}));
  const server = await startStandIn(app.callback());
  const answer = await fetch(`${server.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([status, body]);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await server.close();
});
