import { afterAll, beforeAll } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { startTestService, type TestService, type TestServiceOptions } from './support.ts';

/** A service over a Redis of its own for a file of tests; to be called once, outside of tests, and to be read within them. */
export function useTestService(overrides: TestServiceOptions = {}): { server: TestRedis; service: TestService } {
  const server = {} as TestRedis;
  const service = {} as TestService;
  beforeAll(async () => {
    Object.assign(server, await startTestRedis());
    Object.assign(service, await startTestService(server.redis, overrides));
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
  });
  return { server, service };
}
