import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runLeaks } from './leak-run.ts';

const deployment = useSlackDeployment();

test.each(['member', 'group'] as const)(
  'with GROUP_SCOPE=%s, 5,000 random turns put no text into a prompt of other people [one-conversation-key] [group-is-not-private]',
  async (scope) => {
    const seed = String(Date.now());
    const { crossings, ...figures } = await runLeaks({ deployment, scope, turns: 5_000, seed });
    process.stdout.write(
      `leaks, ${scope}, seed ${seed}: ${JSON.stringify({ ...figures, crossings: crossings.length })}\n`,
    );
    expect(crossings).toEqual([]);
    expect(figures.withContext).toBeGreaterThan(1_000);
  },
  600_000,
);
