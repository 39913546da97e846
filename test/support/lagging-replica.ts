import { afterEach, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { startEmbeddedRedis, type EmbeddedRedis } from '../../src/bot/app/local/embedded-redis.ts';
import type { SlackDeployment } from './slack-deployment.ts';
import { untilTrue } from './deployment.ts';

/**
 * A master, a replica that can be disconnected from it, and a deployment whose bots move to the replica once the master is
 * killed.
 */
export interface LaggingReplica {
  readonly master: EmbeddedRedis;
  /** From the replica to its master. */
  readonly replication: TcpProxy;
  toMaster(command: string, ...args: string[]): Promise<string>;
  toReplica(command: string, ...args: string[]): Promise<string>;
  /** Waits until the replica has all data of its master. */
  untilCaughtUp(): Promise<void>;
  /** Whether the deployment's bot reports ready. */
  isReady(): Promise<boolean>;
  /** Kills the master and promotes the replica with the data that it has. */
  failOver(): Promise<void>;
}

export function useLaggingReplica(deployment: SlackDeployment): LaggingReplica {
  let replica: EmbeddedRedis;
  /** From the bot to the current master. */
  let front: TcpProxy;
  let leadsTo = 0;
  const portOf = ({ url }: EmbeddedRedis) => Number(new URL(url).port);
  const pair = { toMaster, toReplica, untilCaughtUp, isReady, failOver } as {
    -readonly [Name in keyof LaggingReplica]: LaggingReplica[Name];
  };

  beforeEach(async () => {
    pair.master = await startEmbeddedRedis();
    pair.replication = await startTcpProxy(portOf(pair.master));
    replica = await startEmbeddedRedis({ extraArguments: ['--replicaof', '127.0.0.1', String(pair.replication.port)] });
    await untilTrue(async () => (await toReplica('INFO', 'replication')).includes('master_link_status:up'));
    leadsTo = portOf(pair.master);
    front = await startTcpProxy(() => leadsTo);
    deployment.env['REDIS_URL'] = `redis://127.0.0.1:${front.port}/0`;
  });
  afterEach(async () => {
    await front.close();
    await pair.replication.close();
    await Promise.all([pair.master.stop(), replica.stop()]);
  });

  async function ask({ url }: EmbeddedRedis, command: string, ...args: string[]): Promise<string> {
    const admin = new Redis(url, { maxRetriesPerRequest: null });
    try {
      return String(await admin.call(command, ...args));
    } finally {
      admin.disconnect();
    }
  }

  async function toMaster(command: string, ...args: string[]): Promise<string> {
    return ask(pair.master, command, ...args);
  }

  async function toReplica(command: string, ...args: string[]): Promise<string> {
    return ask(replica, command, ...args);
  }

  async function untilCaughtUp(): Promise<void> {
    const offset = async (server: EmbeddedRedis) =>
      Number(/master_repl_offset:(\d+)/.exec(await ask(server, 'INFO', 'replication'))?.[1]);
    const wanted = await offset(pair.master);
    await untilTrue(async () => (await offset(replica)) >= wanted);
  }

  async function isReady(): Promise<boolean> {
    return (await fetch(`${deployment.botUrl}/readyz`)).status === 200;
  }

  async function failOver(): Promise<void> {
    process.kill(pair.master.pid, 'SIGKILL');
    await untilTrue(async () => !(await isReady()));
    await toReplica('REPLICAOF', 'NO', 'ONE');
    leadsTo = portOf(replica);
  }
  return pair;
}
