import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runStorm, slowAnswer, tellStorm } from '../support/storm.ts';

const deployment = useSlackDeployment();

test('in a storm of ten times the capacity all messages are stored, and each gets an answer or a busy note, once and in order [delivery-storm] [back-pressure]', async () => {
  // Eight concurrent answers of 0.8 s each: ten per second.
  deployment.chat.script(slowAnswer(800));
  const bot = await deployment.startProcess({
    WORKER_CONCURRENCY: '8',
    QUEUE_SOFT_WAITING: '10',
    QUEUE_HARD_WAITING: '40',
    LOG_LEVEL: 'info',
  });
  const figures = await runStorm(deployment, { ratePerSec: 100, forSec: 4, processes: [bot], drainLimitMs: 40_000 });
  tellStorm('delivery-storm', figures);
  expect(figures.refused).toBeLessThan(figures.sent * 0.05);
  expect(figures.busy).toBeGreaterThan(figures.sent * 0.3);
  expect(figures.answered).toBeGreaterThan(20);
  expect(figures.rssPeakMib - figures.rssBeforeMib).toBeLessThan(150);
}, 90_000);
