import { once } from 'node:events';
import type { Cluster, Command, Redis } from 'ioredis';

const CLOSED = 'Connection is closed.';
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;

/**
 * Retries commands that ioredis gives up on although the cluster will accept them later:
 * - a connection closed while no node was ready;
 * - NOSCRIPT: a node that redirects EVAL does not store the script, yet ioredis sends that node only the script's SHA-1
 *   afterwards. The retry contains the script itself. ioredis follows redirections (MOVED, ASK, TRYAGAIN, CLUSTERDOWN)
 *   itself, up to `maxRedirections`.
 * @param waits whether commands wait for a lost connection; if false, only a missing script is sent again
 */
export function retryCommands(cluster: Cluster, waits: boolean): void {
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
 * Keeps the cost of `reject` constant however often a node refuses a command: ioredis wraps a script's `reject` again at
 * each node that it is sent to, and a wait of hours would end in a stack overflow.
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

/** The original `reject` of each pending command, before any node wrapped it. */
const rejections = new WeakMap<Command, Command['reject']>();

/**
 * Ensures that callers waiting for a connection are notified. BullMQ waits after each interruption of a worker, and takes no
 * job until then. By itself ioredis
 * - never settles `connect()` if the cluster is down at its first check, although it keeps connecting;
 * - may set an ended connection's status back to `close`, without any further event.
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

/** ioredis adds its own redirection handling on top of the existing `reject`. */
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
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  };
}

function isPassing({ message }: Error, waits: boolean): boolean {
  return message.startsWith('NOSCRIPT') || (waits && message === CLOSED);
}
