import { expect, test } from '@jest/globals';
import { freePort } from '../../../src/bot/app/local/embedded-redis.ts';
import { untilTrue } from '../../support/deployment.ts';
import { useSlackDeployment } from '../../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const OPERATIONS = ['/healthz', '/readyz', '/version', '/metrics'];

test('METRICS_PORT has health and metrics, PORT has them no more, and both close with the process', async () => {
  const port = await freePort();
  const bot = await deployment.startBot({ METRICS_PORT: String(port) });
  const statuses = (origin: string) =>
    Promise.all([...OPERATIONS, '/webhooks/slack'].map(async (path) => (await fetch(origin + path)).status));
  await untilTrue(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200);
  expect(await statuses(`http://127.0.0.1:${port}`)).toEqual([200, 200, 200, 200, 404]);
  expect((await statuses(deployment.botUrl)).slice(0, 4)).toEqual([404, 404, 404, 404]);
  await bot.close();
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
});
