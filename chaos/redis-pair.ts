import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startEmbeddedRedis, type EmbeddedRedis } from '../src/bot/app/local/embedded-redis.ts';
import { atExit } from './at-exit.ts';
import type { RedisInstance } from './redis-instance.ts';
import { startTcpProxy, type TcpProxy } from '../test/support/tcp-proxy.ts';

/** A master and a replica behind one address, like a managed Redis or a virtual IP: a failover changes its target. */
export interface RedisPair extends RedisInstance {
  /** The link from the master to its replica. */
  readonly replication: TcpProxy;
  /** `kill -9` of the master; later its replica takes over. Writes that the replica has not received are lost. */
  failOver(afterMs: number): Promise<void>;
  /**
   * The replica takes over although the master is alive; some processes continue to write to the old master, which is then
   * stopped.
   */
  split(forMs: number, isLeftBehind: (process: string) => boolean): Promise<void>;
  /** Suspends the replica. */
  freezeReplica(forMs: number): Promise<void>;
}

/** @param minReplicas number of replicas that a write requires, lagging by at most two seconds */
export async function startRedisPair(minReplicas: 0 | 1): Promise<RedisPair> {
  const extraArguments = [
    ...['--min-replicas-to-write', String(minReplicas), '--min-replicas-max-lag', '2', '--repl-timeout', '10'],
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
    // The new master has no replica for now.
    await tell(replica, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    current = replica;
  };
  const notHere = () => Promise.reject(new Error('A pair of servers does not support this fault'));
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
      // Connections of processes that see the new master are closed.
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

/** All clients of the old master reconnect; those that are not left behind reach the new one. */
async function dropOthers(master: EmbeddedRedis, forMs: number): Promise<void> {
  await tell(master, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await pause(forMs);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited already.
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
