import { connectRedis, type RedisClient } from '../../src/base/redis.ts';
import { createLog, type Log } from '../../src/base/log.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/local/embedded-redis.ts';

/** A log that keeps its lines for a test to read. */
export function recordingLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { log, lines };
}

export interface TestRedis extends EmbeddedRedis {
  redis: RedisClient;
}

/** A real redis-server of the test's own with one waiting connection; call `stop` in afterAll. */
export async function startTestRedis(): Promise<TestRedis> {
  const server = await startEmbeddedRedis();
  const redis = connectRedis({ urls: [server.url] }, 'wait', recordingLog().log, 'test');
  return {
    ...server,
    redis,
    async stop() {
      redis.disconnect();
      await server.stop();
    },
  };
}
