import { asError } from '../../../shared/coded-error.ts';
import { MINUTE_MS } from '../../../shared/clock.ts';
import type { Log } from '../../../shared/log.ts';
import type { EmbeddedRedis } from './embedded-redis.ts';

export interface KeptRedisOptions {
  /** Starts one, on this port when it is told. */
  start(port?: number): Promise<EmbeddedRedis>;
  log: Log;
  /** Told, in a sentence for the operator, that there is no Redis any more. */
  onGone(sentence: string): void;
}

const GONE =
  'The embedded redis-server ended twice within a minute: look at the redis folder in DATA_DIR and at the disk, or set REDIS_URL.';

/**
 * Keeps an embedded redis-server running: one that ends by itself (killed for its memory, a full disk) is started again on
 * the same port, where all connections find it and its file. The second end within a minute is told and left.
 * @throws EmbeddedRedisError when the first one cannot start
 */
export async function startKeptRedis({ start, log, onGone }: KeptRedisOptions): Promise<EmbeddedRedis> {
  let isStopping = false;
  const wasStopped = () => isStopping;
  let current = await start();
  const port = Number(new URL(current.url).port) || undefined;
  const watch = async (server: EmbeddedRedis, startedAtMs: number): Promise<void> => {
    await server.ended;
    if (wasStopped()) return;
    if (startedAtMs > performance.now() - MINUTE_MS) return onGone(GONE);
    log.error('the embedded redis-server ended by itself; it is started again');
    try {
      current = await start(port);
    } catch (error) {
      log.error({ error: asError(error) }, 'the embedded redis-server could not be started again');
      return onGone(GONE);
    }
    if (wasStopped()) return current.stop();
    watching = watch(current, performance.now());
  };
  // The first one may end at any time; only what was started again is on trial.
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
