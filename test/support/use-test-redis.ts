import { afterAll, beforeAll } from '@jest/globals';
import { startTestRedis, type TestRedis } from './redis.ts';

/** A redis-server of its own for a file of tests; to be called once, outside of tests, and to be read within them. */
export function useTestRedis(): TestRedis {
  const server = {} as TestRedis;
  beforeAll(async () => {
    Object.assign(server, await startTestRedis());
  });
  afterAll(() => server.stop());
  return server;
}
