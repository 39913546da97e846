import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { PLATFORM_NAMES } from '../../../src/bot/domain/platform-name.ts';
import { describePlatform, type PlatformFixture } from './contract.ts';

/** Inside a platform's folder the same names, so that one learns all by learning one. */
const FILES = ['verify-delivery.ts', 'read-delivery.ts', 'platform-api.ts', 'render-reply.ts', 'index.ts'];
const SOURCES = new URL('../../../src/bot/platforms/', import.meta.url);

const fixtures: { name: string; fixture: PlatformFixture }[] = [];
// One after another: the test runner's loader does not link two module graphs at once.
for (const name of PLATFORM_NAMES) {
  const { fixture } = (await import(`./${name}/fixture.ts`)) as { fixture: PlatformFixture };
  fixtures.push({ name, fixture });
}

describe('platform folders', () => {
  test('there is at least one', () => {
    expect(fixtures.length).toBeGreaterThan(0);
  });

  test.each(PLATFORM_NAMES)('%s has the same files as the others', (name) => {
    expect(readdirSync(new URL(name, SOURCES))).toEqual(expect.arrayContaining(FILES));
  });
});

for (const { name, fixture } of fixtures) describePlatform(name, fixture);
