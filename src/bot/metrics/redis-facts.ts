import { Cluster } from 'ioredis';
import type { RedisClient } from '../../shared/redis/redis.ts';

/**
 * Redis properties on which Parley's guarantees depend. Read from INFO, because CONFIG may be denied (SECURITY.md
 * durable-redis).
 */
export interface RedisFacts {
  version: string;
  /** Whether Redis still loads its files. Its other values are not valid until then. */
  isLoading: boolean;
  isVersionKnownToWork: boolean;
  /** Whether an append-only file keeps acknowledged writes. */
  hasAppendOnlyFile: boolean;
  /** `noeviction`, or the policy by which Redis would evict data. */
  evictionPolicy: string;
  /** 0 if no limit is set. */
  maxMemoryBytes: number;
}

const OLDEST_VERSION = [6, 2] as const;

/** Reads the properties of one node. The masters of a cluster must be configured alike, so the first represents all. */
export async function readRedisFacts(redis: RedisClient): Promise<RedisFacts> {
  const node = redis instanceof Cluster ? (redis.nodes('master')[0] ?? redis) : redis;
  const fields = parseInfo(await Promise.all(['server', 'persistence', 'memory'].map((section) => node.info(section))));
  const version = fields.get('redis_version') ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_VERSION;
  return {
    version,
    isLoading: fields.get('loading') === '1',
    isVersionKnownToWork: major > oldestMajor || (major === oldestMajor && minor >= oldestMinor),
    hasAppendOnlyFile: fields.get('aof_enabled') === '1',
    evictionPolicy: fields.get('maxmemory_policy') ?? 'unknown',
    maxMemoryBytes: Number(fields.get('maxmemory') ?? 0),
  };
}

/** Memory of one node. */
export interface RedisMemory {
  usedBytes: number;
  /** 0 if no limit is set. */
  maxBytes: number;
}

/** Reads the memory of the master that is nearest to its limit, or without limits of the largest. */
export async function readRedisMemory(redis: RedisClient): Promise<RedisMemory> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  const all = await Promise.all(
    nodes.map(async (node) => {
      const fields = parseInfo([await node.info('memory')]);
      return { usedBytes: Number(fields.get('used_memory') ?? 0), maxBytes: Number(fields.get('maxmemory') ?? 0) };
    }),
  );
  const fullness = ({ usedBytes, maxBytes }: RedisMemory) => usedBytes / (maxBytes || Number.MAX_SAFE_INTEGER);
  return all.reduce((fullest, one) => (fullness(one) > fullness(fullest) ? one : fullest), {
    usedBytes: 0,
    maxBytes: 0,
  });
}

function parseInfo(sections: string[]): Map<string, string> {
  const lines = sections.join('\n').split(/\r?\n/);
  return new Map(lines.flatMap((line) => (/^\w+:/.test(line) ? [splitField(line)] : [])));
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
