import { connectRedis, type RedisClient } from '../../src/shared/redis/redis.ts';
import { createLog, type Log } from '../../src/shared/log.ts';
import {
  startEmbeddedRedis,
  type EmbeddedRedis,
  type EmbeddedRedisOptions,
} from '../../src/bot/app/local/embedded-redis.ts';
import { keepEvidence, redisEvidenceFolder } from './evidence/evidence.ts';

/** A log that keeps its lines for a test to read. */
export function recordingLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    destination: {
      write: (line: string) => {
        lines.push(line);
        keepEvidence('logs', line);
      },
    },
  });
  return { log, lines };
}

/** A redis-server whose append-only file is never rewritten, as evidence of every write. */
export function startRedisServer(options: EmbeddedRedisOptions = {}): Promise<EmbeddedRedis> {
  const dataDir = redisEvidenceFolder();
  const extraArguments = ['--auto-aof-rewrite-percentage', '0', ...(options.extraArguments ?? [])];
  return startEmbeddedRedis({ ...(dataDir === undefined ? {} : { dataDir }), ...options, extraArguments });
}

export interface TestRedis extends EmbeddedRedis {
  redis: RedisClient;
}

/** A separate real redis-server with one waiting connection; call `stop` in afterAll. */
export async function startTestRedis(options: EmbeddedRedisOptions = {}): Promise<TestRedis> {
  const server = await startRedisServer(options);
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
