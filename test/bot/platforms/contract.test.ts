import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { PLATFORM_NAMES } from '../../../src/bot/domain/platform-name.ts';
import { describePlatform, type PlatformFixture } from './contract.ts';

/** Files that every platform folder contains under the same names. */
const FILES = ['verify-delivery.ts', 'read-delivery.ts', 'platform-api.ts', 'render-reply.ts', 'index.ts'];
const SOURCES = new URL('../../../src/bot/platforms/', import.meta.url);

const fixtures: { name: string; fixture: PlatformFixture }[] = [];
// Imported one after another: the test runner's loader cannot link two module graphs at once.
for (const name of PLATFORM_NAMES) {
  const { fixture } = (await import(`./${name}/fixture.ts`)) as { fixture: PlatformFixture };
  fixtures.push({ name, fixture });
}

describe('platform folders', () => {
  test('include at least one platform', () => {
    expect(fixtures.length).toBeGreaterThan(0);
  });

  test.each(PLATFORM_NAMES)('include the required files for %s', (name) => {
    expect(readdirSync(new URL(name, SOURCES))).toEqual(expect.arrayContaining(FILES));
  });
});

for (const { name, fixture } of fixtures) describePlatform(name, fixture);
