import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddedRedis } from '../src/bot/app/local/embedded-redis.ts';
import { ask, portOf, slotMover, startClusterNode, startRedisCluster } from '../test/support/redis-cluster.ts';
import { atExit } from './at-exit.ts';
import type { RedisInstance } from './redis-instance.ts';

/** A Redis Cluster of three masters with one replica each. */
export interface ChaosCluster extends RedisInstance {
  /** Moves the slots of some hash tags to other masters; each is partly migrated meanwhile. */
  reshape(tags: readonly string[], halfMovedMs: number): Promise<void>;
  /** `kill -9` of a master; its replica takes over, and later the dead node returns as a replica. */
  killMaster(awayMs: number): Promise<void>;
  /** `kill -9` of a master and its replica: the cluster is down until both are back. */
  killWithReplica(awayMs: number): Promise<void>;
}

export async function startChaosCluster(): Promise<ChaosCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-'));
  const group = await startRedisCluster({ replicas: 1, dataDir });
  const nodes = new Map(group.servers.map((server) => [portOf(server), server]));
  const ports = [...nodes.keys()];
  const forget = atExit(() => nodes.forEach(({ pid }) => process.kill(pid, 'SIGKILL')));
  let isClosed = false;

  async function kill(victims: readonly EmbeddedRedis[], awayMs: number): Promise<void> {
    for (const victim of victims) {
      nodes.delete(portOf(victim));
      process.kill(victim.pid, 'SIGKILL');
    }
    await Promise.all(victims.map(({ ended }) => ended));
    await pause(awayMs);
    for (const port of isClosed ? [] : victims.map(portOf))
      nodes.set(port, await startClusterNode(Number(port), dataDir));
  }

  const notHere = () => Promise.reject(new Error('A cluster does not support this fault'));
  return {
    urls: group.url,
    port: Number(ports[0]),
    portFor: () => Number(ports[0]),
    async reshape(tags, halfMovedMs) {
      const servers = (await mastersOf([...nodes.values()])).map(({ server }) => server);
      const slots = await Promise.all(tags.map((tag) => ask(servers[0]?.url ?? '', 'CLUSTER', 'KEYSLOT', tag)));
      const movers = [...new Set(slots)].map((slot) => slotMover({ servers }, Number(slot)));
      for (const mover of movers) {
        await mover.begin();
        await mover.moveHalf();
      }
      await pause(halfMovedMs);
      for (const mover of movers) await mover.end();
    },
    async killMaster(awayMs) {
      const [first] = await mastersOf([...nodes.values()]);
      if (first) await kill([first.server], awayMs);
    },
    async killWithReplica(awayMs) {
      const masters = await mastersOf([...nodes.values()]);
      const pair = masters.find(({ replicas }) => replicas.length > 0);
      if (pair) await kill([pair.server, ...pair.replicas], awayMs);
    },
    killAndRestart: notHere,
    freeze: notHere,
    refuse: notHere,
    restore: notHere,
    backUp: () => undefined,
    async close() {
      isClosed = true;
      forget();
      await Promise.all([...nodes.values()].map((node) => node.stop()));
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The masters among these nodes, each with its replicas. */
async function mastersOf(
  nodes: readonly EmbeddedRedis[],
): Promise<{ server: EmbeddedRedis; replicas: EmbeddedRedis[] }[]> {
  const roles = await Promise.all(
    nodes.map(async (server) => ({ server, role: JSON.parse(await ask(server.url, 'ROLE')) as unknown[] })),
  );
  const replicasOf = (port: string) =>
    roles.filter(({ role }) => role[0] === 'slave' && String(role[2]) === port).map(({ server }) => server);
  return roles
    .filter(({ role }) => role[0] === 'master')
    .map(({ server }) => ({ server, replicas: replicasOf(portOf(server)) }));
}
