import { once } from 'node:events';
import type { Cluster, Command, Redis } from 'ioredis';

const CLOSED = 'Connection is closed.';
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/**
 * Sends a command again where ioredis gives up although the cluster will take it later:
 * - a connection closed while no node was ready;
 * - NOSCRIPT: a node that redirects EVAL does not keep the script, yet ioredis sends that node the script's SHA-1 from then on. The
 *   repetition carries the script itself.
 * Redirections (MOVED, ASK, TRYAGAIN, CLUSTERDOWN) are followed by ioredis; `maxRedirections` says how long.
 * @param waits whether commands wait for a lost connection; without it only a missing script is sent again
 */
export function repeatCommands(cluster: Cluster, waits: boolean): void {
  const send = cluster.sendCommand.bind(cluster);
  const guarded = new WeakSet<Command>();
  cluster.on('+node', unwrapRepeated);
  cluster.sendCommand = (command, stream, node?: unknown) => {
    if (!stream && !node && !guarded.has(command)) {
      guarded.add(command);
      guard(
        command,
        (error) => cluster.status !== 'end' && isPassing(error, waits),
        () => void send(command),
      );
    }
    return send(command, stream, node);
  };
}

/**
 * Keeps what `reject` costs the same however often a node refuses a command: ioredis wraps a script's `reject` once more at each node
 * that it is sent to, and a wait of hours would end in a stack overflow.
 */
function unwrapRepeated(node: Redis): void {
  const send = node.sendCommand.bind(node);
  node.sendCommand = (command, stream) => {
    const first = rejections.get(command);
    if (first) command.reject = first;
    else rejections.set(command, command.reject);
    return send(command, stream);
  };
}

/** Of each command under way, its `reject` before any node wrapped it. */
const rejections = new WeakMap<Command, Command['reject']>();

/**
 * Makes callers that wait for a connection hear of it. BullMQ waits so after each interruption of a worker, and takes no job until
 * then. Of itself ioredis
 * - never settles `connect()` when the cluster is down at its first check, although it goes on connecting;
 * - may set an ended connection's status to `close` again, which no event follows.
 */
export function settleConnects(cluster: Cluster): Cluster {
  const connect = cluster.connect.bind(cluster);
  cluster.connect = async () => {
    const waiting = new AbortController();
    const { signal } = waiting;
    const opened = Promise.race([connect(), once(cluster, 'ready', { signal })]);
    await opened.finally(() => waiting.abort());
  };
  const inner = cluster as unknown as { setStatus(status: string): void };
  const setStatus = inner.setStatus.bind(cluster);
  inner.setStatus = (status) => {
    if (status !== 'close' || cluster.status !== 'end') setStatus(status);
  };
  const duplicate = cluster.duplicate.bind(cluster);
  cluster.duplicate = (...args) => settleConnects(duplicate(...args));
  return cluster;
}

/** ioredis puts its own handling of redirections before the `reject` that it finds. */
function guard(command: Command, isRepeated: (error: Error) => boolean, repeat: () => void): void {
  const reject = command.reject;
  let pauseMs = FIRST_PAUSE_MS;
  let isOver = false;
  command.reject = (error) => {
    if (isOver) return;
    if (!isRepeated(error)) {
      isOver = true;
      return reject(error);
    }
    setTimeout(() => !isOver && repeat(), pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  };
}

function isPassing({ message }: Error, waits: boolean): boolean {
  return message.startsWith('NOSCRIPT') || (waits && message === CLOSED);
}
