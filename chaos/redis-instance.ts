import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, startEmbeddedRedis, type EmbeddedRedis } from '../src/bot/app/local/embedded-redis.ts';
import { atExit } from './at-exit.ts';
import { beginRefusal, type RefusalKind } from './redis-refusal.ts';

/** The testbed's own redis-server: AOF everysec in its own directory, on a fixed port, so that it can die and come back. */
export interface RedisInstance {
  readonly port: number;
  /** For a cluster: the addresses of its nodes, which processes reach without a proxy. */
  readonly urls?: string;
  /**
   * Its address for a process, evaluated for each connection. Defaults to the port; differs if the testbed has several
   * servers.
   */
  portFor(process: string): number;
  /** Copies its current files. */
  backUp(): void;
  /** `kill -9`, and a restart with the copied files. */
  restore(): Promise<void>;
  /** `kill -9`, and a later restart with its append-only file. */
  killAndRestart(awayMs: number): Promise<void>;
  /** Accepts connections, never answers. */
  freeze(forMs: number): Promise<void>;
  /** Refuses every write, in one of several ways. */
  refuse(why: RefusalKind, forMs: number): Promise<void>;
  close(): Promise<void>;
}

export async function startRedisInstance(): Promise<RedisInstance> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-chaos-'));
  const port = await freePort();
  const start = () => startEmbeddedRedis({ dataDir, port });
  let server: EmbeddedRedis | undefined = await start();
  let isClosed = false;
  const forget = atExit(() => server && process.kill(server.pid, 'SIGKILL'));
  const kill = async () => {
    const killed = server;
    server = undefined;
    if (killed) process.kill(killed.pid, 'SIGKILL');
    await killed?.ended;
    return killed !== undefined;
  };
  const [files, copy] = [join(dataDir, 'appendonlydir'), join(dataDir, 'copy')];
  return {
    port,
    portFor: () => port,
    async killAndRestart(awayMs) {
      if (!(await kill())) return;
      await pause(awayMs);
      if (!isClosed) server = await start();
    },
    backUp: () => cpSync(files, copy, { recursive: true }),
    async restore() {
      await kill();
      rmSync(files, { recursive: true });
      cpSync(copy, files, { recursive: true });
      if (!isClosed) server = await start();
    },
    async freeze(forMs) {
      if (!server) return;
      const frozen = server;
      process.kill(frozen.pid, 'SIGSTOP');
      await pause(forMs);
      if (server === frozen) process.kill(frozen.pid, 'SIGCONT');
    },
    async refuse(why, forMs) {
      const end = await beginRefusal(port, dataDir, why);
      await pause(forMs);
      await end();
    },
    async close() {
      isClosed = true;
      forget();
      await server?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
