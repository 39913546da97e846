import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runLeaks } from './leak-run.ts';

const deployment = useSlackDeployment();

test.each(['member', 'group'] as const)(
  'with GROUP_SCOPE=%s, 150 random turns put no text into a prompt of other people [one-conversation-key] [group-is-not-private] [workspaces-apart]',
  async (scope) => {
    const figures = await runLeaks({ deployment, scope, turns: 150, seed: `leaks ${scope}` });
    expect(figures.crossings).toEqual([]);
    // The run contained prompts and conversations to check.
    expect(figures.prompts).toBeGreaterThan(80);
    expect(figures.withContext).toBeGreaterThan(30);
    expect(figures.withSummary).toBeGreaterThan(0);
  },
  60_000,
);
