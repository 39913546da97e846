import { afterEach } from '@jest/globals';
import type { TestRedis } from '../../support/redis.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { startProviderOf, type Dialect } from './providers/dialects.ts';
import { startIdentityFixture, type IdentityFixture, type IdentityFixtureOptions } from './identity-fixture.ts';

export interface OpenOptions extends IdentityFixtureOptions {
  /** What the sign-in service speaks; the specified `oauth2` unless told. */
  dialect?: Dialect;
}

export interface UsedIdentityFixture {
  server: TestRedis;
  /** What `open` started last. */
  fixture: IdentityFixture;
  /** Starts the test's fixture over an empty Redis. */
  open(options?: OpenOptions): Promise<IdentityFixture>;
}

/**
 * A Redis for a file of tests, and a fixture that each test opens for itself; it is closed when the test ends. To be called
 * once, outside of tests, and to be read within them.
 */
export function useIdentityFixture(): UsedIdentityFixture {
  const server = useTestRedis();
  const fixture = {} as IdentityFixture;
  const providers: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    await fixture.close();
    await Promise.all(providers.splice(0).map((provider) => provider.close()));
  });
  return {
    server,
    fixture,
    async open({ dialect = 'oauth2', ...options } = {}) {
      const provider = await startProviderOf(dialect);
      if (!provider) return Object.assign(fixture, await startIdentityFixture(server.redis, options));
      providers.push(provider);
      const signIn = { ...options.signIn, type: dialect };
      return Object.assign(fixture, await startIdentityFixture(server.redis, { ...options, provider, signIn }));
    },
  };
}
