import { afterAll, beforeAll } from '@jest/globals';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { startTestService, type TestService, type TestServiceOptions } from './support.ts';

/** A service with its own Redis for one test file. Call it once, outside of tests, and read its properties within them. */
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
