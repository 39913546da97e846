import { randomInt } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { SECOND_MS } from '../../../shared/clock.ts';
import { CodedError } from '../../../shared/coded-error.ts';
import { withTimeout } from '../../../shared/with-timeout.ts';
import { endWithUs } from './exit-with-parent.ts';
import { findRedisProgram } from './redis-program.ts';

/** A redis-server process of our own, stopped with us, even when we are killed. */
export interface EmbeddedRedis {
  /** `redis://127.0.0.1:PORT/0`, on a free port of the loopback; `unix:` and a path where a socket was asked for. */
  readonly url: string;
  readonly pid: number;
  /** Settles when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends the process in order (its append-only file is complete then) and waits for its end. */
  stop(): Promise<void>;
}

export class EmbeddedRedisError extends CodedError<'redis_server_missing' | 'redis_server_failed'> {}

export interface EmbeddedRedisOptions {
  /** Where its append-only file lies; a temporary folder, removed at the stop, unless told. */
  dataDir?: string;
  /** A fixed port; a free one unless told. */
  port?: number;
  /** Listens here for this machine's user alone, and on no port; where systems take paths of that length. */
  socketPath?: string;
  /** The program; `redis-server`, or `valkey-server` where that is missing. */
  program?: string;
  /** Further `redis-server` arguments. */
  extraArguments?: string[];
}

/** Reading a large append-only file takes a while; a server that cannot start ends at once. */
const START_LIMIT_MS = 60 * SECOND_MS;

/** Starts a redis-server with an append-only file and no eviction, as production needs it (SECURITY.md quick-takeover). @throws EmbeddedRedisError */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions = {}): Promise<EmbeddedRedis> {
  const dir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'parley-redis-'));
  mkdirSync(dir, { recursive: true });
  const place = await placeOf(options);
  const child = spawnServer(options, dir, place);
  endWithUs(child);
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

/** Where it listens. */
type Place = { path: string } | { host: string; port: number };

/** What the shortest of systems takes for a socket's path, its end included. */
const MOST_SOCKET_PATH_BYTES = 103;

async function placeOf({ socketPath, port }: EmbeddedRedisOptions): Promise<Place> {
  if (socketPath !== undefined && Buffer.byteLength(socketPath) <= MOST_SOCKET_PATH_BYTES) return { path: socketPath };
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
    failure = new EmbeddedRedisError('redis_server_missing', 'redis-server could not be started; is it installed?', {
      cause,
    });
  });
  child.once('exit', (code) => {
    failure ??= new EmbeddedRedisError('redis_server_failed', `redis-server ended at once (exit ${String(code)})`);
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
    // A connection that is just being made would otherwise be tried for ever, in spite of the disconnect.
    isOver = true;
    probe.disconnect();
  }
  child.kill('SIGKILL');
  throw failure ?? new EmbeddedRedisError('redis_server_failed', 'redis-server did not become ready in 60 s');
}

/** Below the ports that systems give to outgoing connections, one of which could take the port before it is listened on. */
const FIRST_PORT = 12_000;
const PORTS = 20_000;

/** A port that is free on the loopback at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = FIRST_PORT + randomInt(PORTS);
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
