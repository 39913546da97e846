import { afterAll, beforeAll } from '@jest/globals';
import { startTestRedis, type TestRedis } from './redis.ts';

/** A redis-server for one test file. Call it once, outside of tests, and read its properties within them. */
export function useTestRedis(): TestRedis {
  const server = {} as TestRedis;
  beforeAll(async () => {
    Object.assign(server, await startTestRedis());
  });
  afterAll(() => server.stop());
  return server;
}
