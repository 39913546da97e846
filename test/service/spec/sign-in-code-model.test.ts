import { afterAll, beforeAll, test } from '@jest/globals';
import fc from 'fast-check';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { tries } from '../../support/tries.ts';
import { startTestService, type TestService } from '../support.ts';
import { codeCommands, emptyModel, LIVES } from './code-model.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? tries(16));

let server: TestRedis;
let service: TestService;

beforeAll(async () => {
  server = await startTestRedis();
  service = await startTestService(server.redis, LIVES);
});
afterAll(async () => {
  await service.close();
  await server.stop();
});

test(
  'codes and tokens have the state of the table after any sequence of actions [authorization-code]',
  async () => {
    await fc.assert(
      fc.asyncProperty(codeCommands, async (commands) => {
        await server.redis.flushall();
        await fc.asyncModelRun(() => emptyModel(service), commands);
      }),
      { numRuns: RUNS, endOnFailure: false },
    );
  },
  Math.max(120_000, RUNS * 1_000),
);
