import { SECOND_MS } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { SupervisedWorker } from './local/supervised-worker.ts';
import type { LocalControls, WorkerView } from '../../simulator/local-controls.ts';
import { ownModelControls, withOwnModel } from './own-model.ts';
import type { Config, Secrets } from '../config/config.ts';
import { separateProcessWorker, type WorkerHost } from './worker-host.ts';

interface LocalWorkerOptions {
  program: URL;
  config: Config;
  secrets: Secrets;
  log: Log;
}

export interface LocalWorker {
  host: WorkerHost;
  controls: LocalControls;
}

/** Minimum time between two kills, so that repeated clicks cannot keep the bot from ever answering. */
const MIN_KILL_INTERVAL_MS = 5 * SECOND_MS;
/** Short, because a person waits for the other model. An answer that does not end in time continues with it. */
const REPLACE_GRACE_SEC = 7;

/** Starts local mode's worker in a separate process, so that killing it is real. @throws Error when it does not start */
export async function startLocalWorker({ program, config, secrets, log }: LocalWorkerOptions): Promise<LocalWorker> {
  const listeners = new Set<(view: WorkerView) => void>();
  let killed: { view: WorkerView; atMs: number } | undefined;
  const kept = await SupervisedWorker.start({
    ...{ program, log, settings: () => withOwnModel(config, secrets) },
    onSuccession({ processId, takenOver }) {
      if (!killed || killed.view.next) return;
      const next = { processId, takenOver, afterMs: performance.now() - killed.atMs };
      killed.view = { ...killed.view, next };
      for (const listener of listeners) listener(killed.view);
    },
  });
  return {
    host: separateProcessWorker(kept),
    controls: {
      killWorker() {
        const atMs = performance.now();
        if (kept.processId === undefined || (killed && atMs - killed.atMs < MIN_KILL_INTERVAL_MS)) return undefined;
        killed = { atMs, view: { killedProcessId: kept.processId, killedAtMs: Date.now() } };
        kept.kill();
        log.warn({ processId: killed.view.killedProcessId }, 'the worker process was killed (kill -9) from the page');
        return killed.view;
      },
      onWorker(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      ...ownModelControls({ config, restartWorker: () => kept.replace(REPLACE_GRACE_SEC) }),
    },
  };
}
