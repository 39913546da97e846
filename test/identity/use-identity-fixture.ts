import { afterEach } from '@jest/globals';
import type { TestRedis } from '../support/redis.ts';
import { useTestRedis } from '../support/use-test-redis.ts';
import { startIdentityFixture, type IdentityFixture, type IdentityFixtureOptions } from './identity-fixture.ts';

export interface UsedIdentityFixture {
  server: TestRedis;
  /** What `open` started last. */
  fixture: IdentityFixture;
  /** Starts the test's fixture over an empty Redis. */
  open(options?: IdentityFixtureOptions): Promise<IdentityFixture>;
}

/**
 * A Redis for a file of tests, and a fixture that each test opens for itself; it is closed when the test ends. To be called
 * once, outside of tests, and to be read within them.
 */
export function useIdentityFixture(): UsedIdentityFixture {
  const server = useTestRedis();
  const fixture = {} as IdentityFixture;
  afterEach(() => fixture.close());
  return {
    server,
    fixture,
    open: async (options) => Object.assign(fixture, await startIdentityFixture(server.redis, options)),
  };
}
