import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runStorm, slowAnswer, tellStorm } from '../support/storm.ts';

const deployment = useSlackDeployment();

test('a minute of ten times the capacity: acks within 1 s at p99, fewer than 5 % refused, all answered once, memory bounded [delivery-storm] [back-pressure]', async () => {
  // Eight concurrent answers of 0.8 s each: ten per second.
  deployment.chat.script(slowAnswer(800));
  const env = { QUEUE_SOFT_WAITING: '20', QUEUE_HARD_WAITING: '200', LOG_LEVEL: 'info' };
  const processes = [
    await deployment.startProcess({ ...env, ROLES: 'receiver' }),
    await deployment.startProcess({ ...env, ROLES: 'worker', WORKER_CONCURRENCY: '8' }),
  ];
  const figures = await runStorm(deployment, { ratePerSec: 100, forSec: 60, processes, drainLimitMs: 120_000 });
  tellStorm('delivery-storm', figures);
  expect(figures.ackP99Ms).toBeLessThanOrEqual(1_000);
  expect(figures.refused).toBeLessThan(figures.sent * 0.05);
  expect(figures.busy).toBeGreaterThan(figures.sent * 0.5);
  expect(figures.rssPeakMib - figures.rssBeforeMib).toBeLessThan(150);
}, 300_000);
