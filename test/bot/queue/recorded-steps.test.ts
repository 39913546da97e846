import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { useTestRedis } from '../../support/use-test-redis.ts';
import {
  comparable,
  contentAfter,
  restore,
  runStep,
  STEPS,
  textsWaiting,
  type RecordedStep,
} from './recorded-steps.ts';

/** Written by the build of November 2026. Never record it again: running deployments contain such data. */
const recorded = JSON.parse(
  readFileSync(new URL('../../vectors/recorded-steps.json', import.meta.url), 'utf8'),
) as RecordedStep[];
const server = useTestRedis();

test('each step is recorded', () => {
  expect(recorded.map(({ name }) => name)).toEqual(Object.keys(STEPS));
});

test.each(recorded.map((step, at) => ({ ...step, at })))(
  'on data of an older build, $name writes what the older build wrote [versioned-payloads]',
  async ({ at, ...step }) => {
    const before = contentAfter(recorded.slice(0, at));
    await restore(server.redis, before);
    const own = await runStep(server.redis, server.url, step.name);
    expect(comparable(own, before)).toEqual(comparable(step, before));
  },
);

test.each([
  ['alice', ['text of a5', 'edited', '/help', '/stop']],
  ['slack', ['text of s1 + text of s3', '/stop', 'edited']],
  ['bob', ['text of b1', 'text of b2']],
  ['carol', ['text of c1 + text of c2']],
] as const)(
  'reads the waiting messages of %s as an older build stored them [versioned-payloads]',
  async (name, texts) => {
    await restore(server.redis, contentAfter(recorded));
    expect(await textsWaiting(server.redis, name)).toEqual(texts);
  },
);
