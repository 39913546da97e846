import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startEmbeddedRedis, type EmbeddedRedis } from '../src/bot/app/local/embedded-redis.ts';
import { atExit } from './at-exit.ts';
import type { RedisInstance } from './redis-instance.ts';
import { startTcpProxy, type TcpProxy } from '../test/support/tcp-proxy.ts';

/** A master and a replica behind one address, as a managed Redis or a virtual address gives: where it leads is changed by a failover. */
export interface RedisPair extends RedisInstance {
  /** The way from the master to its replica. */
  readonly replication: TcpProxy;
  /** `kill -9` of the master; after a while its replica takes over. What the replica has not got is lost. */
  failOver(afterMs: number): Promise<void>;
  /** The replica takes over although the master lives; some processes go on writing to the old one, which is then ended. */
  split(forMs: number, isLeftBehind: (process: string) => boolean): Promise<void>;
  /** The replica stands still. */
  freezeReplica(forMs: number): Promise<void>;
}

/** @param leastReplicas that a master demands of a write, none of them more than two seconds behind */
export async function startRedisPair(leastReplicas: 0 | 1): Promise<RedisPair> {
  const extraArguments = [
    ...['--min-replicas-to-write', String(leastReplicas), '--min-replicas-max-lag', '2', '--repl-timeout', '10'],
    ...['--repl-ping-replica-period', '1', '--repl-diskless-sync-delay', '0'],
  ];
  const master = await startEmbeddedRedis({ extraArguments });
  const replication = await startTcpProxy(portOf(master));
  const replica = await startEmbeddedRedis({
    extraArguments: [...extraArguments, '--replicaof', '127.0.0.1', String(replication.port)],
  });
  while (!(await tell(replica, 'INFO', 'replication')).includes('master_link_status:up')) await pause(50);
  let current = master;
  let leftBehind: (process: string) => boolean = () => false;
  const door = await startTcpProxy(() => portOf(current));
  const forget = [master, replica].map(({ pid }) => atExit(() => kill(pid, 'SIGKILL')));
  const promote = async () => {
    await tell(replica, 'REPLICAOF', 'NO', 'ONE');
    // It has no replica of its own for now.
    await tell(replica, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    current = replica;
  };
  const notHere = () => Promise.reject(new Error('A pair of servers has no such fault'));
  return {
    port: door.port,
    portFor: (process) => portOf(leftBehind(process) ? master : current),
    replication,
    async failOver(afterMs) {
      kill(master.pid, 'SIGKILL');
      await pause(afterMs);
      await promote();
    },
    async split(forMs, isLeftBehind) {
      replication.breakWith({ kind: 'reset' });
      leftBehind = isLeftBehind;
      await promote();
      // Those that see the new master find their connections gone.
      await dropOthers(master, forMs);
      leftBehind = () => false;
      kill(master.pid, 'SIGKILL');
    },
    async freezeReplica(forMs) {
      kill(replica.pid, 'SIGSTOP');
      await pause(forMs);
      kill(replica.pid, 'SIGCONT');
    },
    killAndRestart: notHere,
    freeze: notHere,
    refuse: notHere,
    restore: notHere,
    backUp: () => undefined,
    async close() {
      for (const end of forget) end();
      await Promise.all([master.stop(), replica.stop()]);
      await Promise.all([replication.close(), door.close()]);
    },
  };
}

/** Every client of the old master connects again; who is not left behind finds the new one. */
async function dropOthers(master: EmbeddedRedis, forMs: number): Promise<void> {
  await tell(master, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await pause(forMs);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

function portOf({ url }: EmbeddedRedis): number {
  return Number(new URL(url).port);
}

async function tell({ url }: EmbeddedRedis, command: string, ...args: string[]): Promise<string> {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  try {
    return String(await redis.call(command, ...args));
  } finally {
    redis.disconnect();
  }
}
