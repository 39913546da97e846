import { expect, test } from '@jest/globals';
import { useSlackDeployment } from '../support/slack-deployment.ts';
import { runKnowledgeLeaks } from './knowledge-leak-run.ts';

const deployment = useSlackDeployment();

test('100 random turns over 200 documents show no person a document that they may not read [knowledge-rights] [sources-were-read]', async () => {
  const figures = await runKnowledgeLeaks(deployment, { turns: 100, documents: 200, seed: 'knowledge leaks' });
  expect(figures.crossings).toEqual([]);
  // The run contained data to check.
  expect(figures.prompts).toBeGreaterThan(60);
  expect(figures.searched).toBeGreaterThan(25);
  // The number depends on the order in which turns end.
  expect(figures.told).toBeGreaterThan(9);
}, 120_000);
