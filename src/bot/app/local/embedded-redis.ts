import { randomInt } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { SECOND_MS } from '../../../shared/clock.ts';
import { CodedError } from '../../../shared/coded-error.ts';
import { withTimeout } from '../../../shared/with-timeout.ts';
import { exitWithParent } from '../../../shared/process/exit-with-parent.ts';
import { tryToListen } from '../take-free-ports.ts';
import { findRedisProgram } from './redis-program.ts';

/** A redis-server child process, which is stopped with this process, even if this process is killed. */
export interface EmbeddedRedis {
  /** `redis://127.0.0.1:PORT/0` on a free loopback port, or `unix:` and a path if a socket was requested. */
  readonly url: string;
  readonly pid: number;
  /** Settles when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Stops the process in order, with a complete append-only file, and waits for its end. */
  stop(): Promise<void>;
}

export class EmbeddedRedisError extends CodedError<'redis_server_missing' | 'redis_server_failed'> {}

export interface EmbeddedRedisOptions {
  /** Directory of the append-only file. Defaults to a temporary one, which is removed at the stop. */
  dataDir?: string;
  /** Fixed port. Defaults to a free one. */
  port?: number;
  /** Listens here only, for this user only, and on no port. Ignored if the path is too long for a socket. */
  socketPath?: string;
  /** Defaults to `redis-server`, or `valkey-server` if that is missing. */
  program?: string;
  /** Additional `redis-server` arguments. */
  extraArguments?: string[];
}

/** Loading a large append-only file takes time. A server that cannot start ends at once. */
const START_LIMIT_MS = 60 * SECOND_MS;

/**
 * Starts a redis-server with an append-only file and no eviction, as production requires (SECURITY.md quick-takeover).
 * @throws EmbeddedRedisError
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions = {}): Promise<EmbeddedRedis> {
  const dir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'parley-redis-'));
  mkdirSync(dir, { recursive: true });
  const place = await placeOf(options);
  const child = spawnServer(options, dir, place);
  exitWithParent(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await untilReady(child, place);
  return {
    url:
      'path' in place ? pathToFileURL(place.path).href.replace(/^file:/, 'unix:') : `redis://127.0.0.1:${place.port}/0`,
    pid: child.pid as number,
    ended,
    async stop() {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
      if (options.dataDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Where the server listens. */
type Place = { path: string } | { host: string; port: number };

/** Smallest limit of a socket path on any supported system, including its terminator. */
const MAX_SOCKET_PATH_BYTES = 103;

async function placeOf({ socketPath, port }: EmbeddedRedisOptions): Promise<Place> {
  if (socketPath !== undefined && Buffer.byteLength(socketPath) <= MAX_SOCKET_PATH_BYTES) return { path: socketPath };
  return { host: '127.0.0.1', port: port ?? (await freePort()) };
}

function spawnServer(options: EmbeddedRedisOptions, dir: string, place: Place): ChildProcess {
  const settings = [
    ...('path' in place
      ? ['--port', '0', '--unixsocket', place.path, '--unixsocketperm', '700']
      : ['--bind', place.host, '--port', String(place.port)]),
    '--dir',
    dir,
    '--appendonly',
    'yes',
    '--appendfsync',
    'everysec',
  ];
  const quiet = ['--save', '', '--maxmemory-policy', 'noeviction', '--loglevel', 'warning', '--daemonize', 'no'];
  return spawn(options.program ?? findRedisProgram(), [...settings, ...quiet, ...(options.extraArguments ?? [])], {
    stdio: 'ignore',
    // A terminal's Ctrl+C reaches the whole process group; Redis must outlive the parts that still write to it.
    detached: true,
  });
}

async function untilReady(child: ChildProcess, place: Place): Promise<void> {
  let failure: EmbeddedRedisError | undefined;
  child.once('error', (cause) => {
    failure = new EmbeddedRedisError(
      'redis_server_missing',
      'redis-server could not be started: install redis-server or set REDIS_URL',
      {
        cause,
      },
    );
  });
  child.once('exit', (code) => {
    failure ??= new EmbeddedRedisError('redis_server_failed', `redis-server ended immediately (exit ${String(code)})`);
  });
  let isOver = false;
  const probe = new Redis({
    ...place,
    lazyConnect: true,
    retryStrategy: () => (isOver ? null : 20),
    maxRetriesPerRequest: null,
  });
  probe.on('error', () => undefined);
  const deadlineMs = Date.now() + START_LIMIT_MS;
  try {
    void probe.connect().catch(() => undefined);
    while (!failure && Date.now() < deadlineMs) {
      const answer = await withTimeout(probe.ping(), 50).catch(() => '');
      if (answer === 'PONG') return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    // A connection that is being opened would otherwise retry for ever despite the disconnect.
    isOver = true;
    probe.disconnect();
  }
  child.kill('SIGKILL');
  throw failure ?? new EmbeddedRedisError('redis_server_failed', 'redis-server did not become ready within 60 s');
}

/**
 * Below the ephemeral ports, any of which an outgoing connection could take before the server listens, and so few that the
 * bus port of a cluster's node, 10,000 above its own, is never one of them.
 */
const FIRST_PORT = 12_000;
const PORTS = 10_000;

/** Returns a loopback port that is free at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS);
    if ((await tryToListen(port, '127.0.0.1')) === undefined) return port;
  }
}
