import { afterEach } from '@jest/globals';
import type { TestRedis } from '../../support/redis.ts';
import { useTestRedis } from '../../support/use-test-redis.ts';
import { startProviderOf, type Dialect } from './providers/dialects.ts';
import { startIdentityFixture, type IdentityFixture, type IdentityFixtureOptions } from './identity-fixture.ts';

export interface OpenOptions extends IdentityFixtureOptions {
  /** Type of the sign-in service. Defaults to `oauth2`. */
  dialect?: Dialect;
}

export interface UsedIdentityFixture {
  server: TestRedis;
  /** The fixture that `open` started last. */
  fixture: IdentityFixture;
  /** Starts the fixture of a test over an empty Redis. */
  open(options?: OpenOptions): Promise<IdentityFixture>;
}

/**
 * Provides a Redis for a test file, and a fixture that each test opens and that is closed after the test. Call it once at
 * the top level, and use the result within tests.
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
