import { asError } from '../../../shared/coded-error.ts';
import { MINUTE_MS } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import type { EmbeddedRedis } from './embedded-redis.ts';

export interface SupervisedRedisOptions {
  /** Starts a server, on this port if given. */
  start(port?: number): Promise<EmbeddedRedis>;
  log: Log;
  /** Called with a sentence for the operator when Redis is permanently down. */
  onGone(sentence: string): void;
}

const GONE =
  'The embedded redis-server ended twice within a minute: check the redis folder in DATA_DIR and the disk, or set REDIS_URL.';

/**
 * Keeps an embedded redis-server running. A server that ends unexpectedly (out of memory, a full disk) is restarted on the
 * same port and file, where all connections find it. If it ends again within a minute, that is reported and it is not
 * restarted.
 * @throws EmbeddedRedisError when the first server cannot start
 */
export async function startSupervisedRedis({ start, log, onGone }: SupervisedRedisOptions): Promise<EmbeddedRedis> {
  let isStopping = false;
  const wasStopped = () => isStopping;
  let current = await start();
  const port = Number(new URL(current.url).port) || undefined;
  const watch = async (server: EmbeddedRedis, startedAtMs: number): Promise<void> => {
    await server.ended;
    if (wasStopped()) return;
    if (startedAtMs > performance.now() - MINUTE_MS) return onGone(GONE);
    log.error('the embedded redis-server ended unexpectedly; Parley restarts it');
    try {
      current = await start(port);
    } catch (error) {
      log.error({ error: asError(error) }, 'the embedded redis-server could not be restarted');
      return onGone(GONE);
    }
    if (wasStopped()) return current.stop();
    watching = watch(current, performance.now());
  };
  // The minute applies only to restarted servers; the first may end at any time.
  let watching = watch(current, Number.NEGATIVE_INFINITY);
  return {
    url: current.url,
    get pid() {
      return current.pid;
    },
    get ended() {
      return current.ended;
    },
    async stop() {
      isStopping = true;
      await current.stop();
      await watching;
    },
  };
}
