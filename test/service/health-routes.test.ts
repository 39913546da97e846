import { expect, test } from '@jest/globals';
import Koa from 'koa';
import { healthRoutes, type Readiness } from '../../src/service/health-routes.ts';
import { VERSION } from '../../src/shared/version.ts';
import { startStandIn } from './sign-in-support.ts';

test.each<[Readiness, number, object]>([
  ['ready', 200, { status: 'ready', parts: { redis: 'ready' } }],
  ['redis not ready', 503, { status: 'not ready', parts: { redis: 'not ready' } }],
  ['stopping', 503, { status: 'stopping', parts: { service: 'stopping' } }],
])('/readyz reports whether the service can work, with the reason: %s', async (state, status, body) => {
  const app = new Koa().use(healthRoutes(async () => state, {}));
  const server = await startStandIn(app.callback());
  const answer = await fetch(`${server.url}/readyz`);
  expect([answer.status, await answer.json()]).toEqual([status, body]);
  expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok', version: VERSION });
  expect(await (await fetch(`${server.url}/version`)).json()).toMatchObject({ name: 'parley', version: VERSION });
  await server.close();
});
