import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../../support/slack-deployment.ts';
import { untilTrue } from '../../support/until-true.ts';

const deployment = useSlackDeployment();

test('CANARY_SEC proves the queue in /metrics and /readyz without a call of the platform', async () => {
  const bot = await deployment.startBot({ CANARY_SEC: '1' });
  const read = async (path: string) => (await fetch(deployment.botUrl + path)).text();
  const before = Date.now() / 1_000;
  await untilTrue(async () => (await read('/metrics')).includes('parley_canary_turns_total{outcome="committed"} 2'));
  const metrics = await read('/metrics');
  expect(metrics).toMatch(/^parley_canary_wait_seconds_count [2-9]$/m);
  expect(metrics).not.toMatch(/^parley_turn_duration_seconds_count/m);
  const [, provenAt = '0'] = /^parley_canary_last_success_timestamp_seconds (\S+)$/m.exec(metrics) ?? [];
  expect(Number(provenAt)).toBeGreaterThan(before - 2);
  expect(JSON.parse(await read('/readyz'))).toMatchObject({ status: 'ready', parts: { worker: 'ready' } });
  await bot.close();
});
