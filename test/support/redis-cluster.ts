import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { exitWithParent } from '../../src/shared/process/exit-with-parent.ts';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import { findRedisProgram } from '../../src/bot/app/local/redis-program.ts';
import { untilTrue } from './until-true.ts';

const run = promisify(execFile);

/** Several redis-servers of a test that work together; in a cluster the masters come first. */
export interface RedisGroup {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  readonly servers: EmbeddedRedis[];
  stop(): Promise<void>;
}

const hostOf = (server: EmbeddedRedis) => new URL(server.url).host;

export interface ClusterOptions {
  /** Replicas of each master; none by default. */
  replicas?: number;
  /** Each node keeps its files in a folder here, named by its port, so that it can be restarted. */
  dataDir?: string;
}

/** A Redis Cluster of three masters on the loopback. */
export async function startRedisCluster({ replicas = 0, dataDir }: ClusterOptions = {}): Promise<RedisGroup> {
  const count = 3 * (1 + replicas);
  const servers = await Promise.all(Array.from({ length: count }, () => startOnFreePorts(dataDir)));
  const create = ['--cluster', 'create', ...servers.map(hostOf), '--cluster-replicas', String(replicas)];
  await run('redis-cli', [...create, '--cluster-yes']);
  await untilTrue(async () => {
    const states = await Promise.all(servers.map((server) => ask(server.url, 'CLUSTER', 'INFO')));
    const links = await Promise.all(servers.map((server) => ask(server.url, 'INFO', 'replication')));
    return (
      states.every((state) => state.includes('cluster_state:ok')) &&
      links.filter((link) => link.includes('master_link_status:up')).length === 3 * replicas
    );
  });
  return groupOf(servers, servers.map(({ url }) => url).join(','));
}

/** Starts a node of a cluster, or restarts it with the data of its folder. */
export function startClusterNode(port: number, dataDir?: string): Promise<EmbeddedRedis> {
  const extraArguments = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
  const folder = dataDir === undefined ? {} : { dataDir: join(dataDir, String(port)) };
  return startEmbeddedRedis({ port, extraArguments, ...folder });
}

/** Retries if another process took one of the two ports first. */
async function startOnFreePorts(dataDir: string | undefined, triesLeft = 5): Promise<EmbeddedRedis> {
  try {
    return await startClusterNode(await freePort(), dataDir);
  } catch (error) {
    if (triesLeft === 0) throw error;
    return startOnFreePorts(dataDir, triesLeft - 1);
  }
}

/** A master and a replica, watched by one sentinel that decides alone that the master is dead. */
export async function startSentinelGroup(masterName: string): Promise<RedisGroup> {
  const master = await startEmbeddedRedis();
  const replica = await startEmbeddedRedis({ extraArguments: ['--replicaof', '127.0.0.1', portOf(master)] });
  await untilTrue(async () => (await ask(replica.url, 'INFO', 'replication')).includes('master_link_status:up'));
  const sentinel = await startSentinel(
    `sentinel monitor ${masterName} 127.0.0.1 ${portOf(master)} 1`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
  );
  await untilTrue(async () => (await ask(sentinel.url, 'SENTINEL', 'REPLICAS', masterName)).includes('slave'));
  return groupOf([sentinel, replica, master], sentinel.url);
}

/** A sentinel stores its state in its configuration file, so each gets a separate one. */
async function startSentinel(...lines: string[]): Promise<EmbeddedRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-sentinel-'));
  const port = await freePort();
  const file = join(dir, 'sentinel.conf');
  writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, ...lines, ''].join('\n'));
  const child = spawn(findRedisProgram(), [file, '--sentinel'], { stdio: 'ignore' });
  exitWithParent(child);
  const ended = once(child, 'exit');
  const url = `redis://127.0.0.1:${port}`;
  await untilTrue(async () => (await ask(url, 'PING').catch(() => '')) === '"PONG"');
  return {
    url,
    pid: child.pid ?? 0,
    ended: ended.then(() => undefined),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function groupOf(servers: EmbeddedRedis[], url: string): RedisGroup {
  return {
    url,
    servers,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

export const portOf = ({ url }: EmbeddedRedis) => new URL(url).port;

/** Sends one command to one server. Returns its response as JSON. */
export async function ask(url: string, ...[command = '', ...args]: string[]): Promise<string> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    return JSON.stringify(await redis.call(command, ...args));
  } finally {
    redis.disconnect();
  }
}

/** Moves a slot between masters step by step, like an operator's tool. */
export function slotMover({ servers }: Pick<RedisGroup, 'servers'>, slot: number) {
  const idOf = async ({ url }: EmbeddedRedis) => JSON.parse(await ask(url, 'CLUSTER', 'MYID')) as string;
  const ownerOf = async () => {
    const nodes = JSON.parse(await ask(servers[0]?.url ?? '', 'CLUSTER', 'NODES')) as string;
    const line = nodes.split('\n').find((each) => {
      const ranges = each
        .split(' ')
        .slice(8)
        .map((range) => range.split('-').map(Number));
      return ranges.some(([from = -1, to = from]) => from <= slot && slot <= to);
    });
    const owner = await Promise.all(
      servers.map(async (server) => (line?.startsWith(await idOf(server)) ? server : null)),
    );
    return owner.find((server) => server !== null) ?? servers[0]!;
  };
  const keysIn = async ({ url }: EmbeddedRedis) =>
    JSON.parse(await ask(url, 'CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[];
  let ends: { from: EmbeddedRedis; to: EmbeddedRedis } | undefined;
  return {
    /** The slot is half moved from now on. */
    async begin() {
      const from = await ownerOf();
      const to = servers.find((server) => server !== from) ?? from;
      await ask(to.url, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', await idOf(from));
      await ask(from.url, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', await idOf(to));
      ends = { from, to };
    },
    async moveKey(key: string) {
      if (!ends) return;
      const { from, to } = ends;
      // A busy node may answer late, or take the cluster for down for a moment; the key has not moved then.
      await untilTrue(async () => {
        try {
          return await ask(from.url, 'MIGRATE', '127.0.0.1', portOf(to), key, '0', '10000');
        } catch (error) {
          if (!/IOERR|CLUSTERDOWN/.test(String(error))) throw error;
          return '';
        }
      });
    },
    /** Moves every second key. */
    async moveHalf() {
      const keys = ends ? await keysIn(ends.from) : [];
      for (const key of keys.filter((_, index) => index % 2 === 0)) await this.moveKey(key);
    },
    async end() {
      if (!ends) return;
      const { from, to } = ends;
      for (let keys = await keysIn(from); keys.length > 0; keys = await keysIn(from))
        for (const key of keys) await this.moveKey(key);
      for (const { url } of [to, from, ...servers])
        await ask(url, 'CLUSTER', 'SETSLOT', String(slot), 'NODE', await idOf(to));
      ends = undefined;
    },
  };
}
