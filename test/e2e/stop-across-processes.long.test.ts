import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { startThreeProcesses, stopOnce } from '../support/stop-across-processes.ts';

const deployment = useSlackDeployment();
const STOPS_A_WAY = 100;

/** @param share 0.5 for the median */
function percentile(sortedMs: readonly number[], share: number): number {
  return sortedMs[Math.ceil(sortedMs.length * share) - 1] ?? Number.NaN;
}

test.each(['wecom', 'slack'] as const)(
  'an answer is stopped within 300 ms at the 99th percentile across processes: %s',
  async (way) => {
    const wecom = await startThreeProcesses(deployment);
    for (let warm = 0; warm < 10; warm += 1) await stopOnce(deployment, wecom, way, `UW${warm}`);
    const tookMs: number[] = [];
    for (let count = 0; count < STOPS_A_WAY; count += 1)
      tookMs.push(await stopOnce(deployment, wecom, way, `U${count}`));
    const sortedMs = tookMs.toSorted((one, other) => one - other);
    const [p50, p99] = [percentile(sortedMs, 0.5), percentile(sortedMs, 0.99)];
    process.stdout.write(`stop by ${way}: p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms\n`);
    expect(p99).toBeLessThan(300);
  },
  180_000,
);
