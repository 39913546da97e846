import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runKnowledgeLeaks } from './knowledge-leak-run.ts';

const deployment = useSlackDeployment();

test('10,000 random turns over 200 documents show no person a document that they may not read [knowledge-rights]', async () => {
  const figures = await runKnowledgeLeaks(deployment, { turns: 10_000, documents: 200, seed: 'ten thousand' });
  process.stdout.write(`${JSON.stringify({ ...figures, crossings: figures.crossings.length })}\n`);
  expect(figures.crossings).toEqual([]);
  expect(figures.searched).toBeGreaterThan(2_500);
}, 1_800_000);
